# Two images of the package @parley/parley as it is published, each for a data volume at /data or a PostgreSQL named by
# DATABASE_URL:
#
#   docker build --tag parley .                           the server with its web app
#   docker build --tag parley-agents --target agents .    the same, with git, bubblewrap and what coding agents need
#
# They have been checked without a Docker daemon: test/project/containers.small.test.ts holds the paths, stages and commands named here
# against the sources and the package, and builds nothing.

# No install script runs: no package of the product needs one, and Node is in the base image.
FROM node:24-slim AS package
WORKDIR /build
COPY package.json package-lock.json ./
COPY adapters/package.json adapters/
COPY scripts/node/package.json scripts/node/
COPY sdk/package.json sdk/
COPY web/package.json web/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY LICENSE policy.assignment.yaml tsconfig.json ./
COPY adapters adapters
COPY prompts prompts
COPY scripts scripts
COPY sdk sdk
COPY src src
COPY web web
RUN npm run build --workspace=web && node scripts/pack.mjs /packages

FROM node:24-slim AS server
ENV NODE_ENV=production PARLEY_HOST=0.0.0.0 PARLEY_DATA_DIR=/data
COPY --from=package /packages/parley-parley-*.tgz /tmp/
# The package brings everything along, so nothing is fetched.
RUN npm install --global --offline --no-audit --no-fund /tmp/parley-parley-*.tgz && rm /tmp/parley-parley-*.tgz
RUN install --directory --owner=node --group=node --mode=0700 /data
USER node
VOLUME /data
EXPOSE 3415
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PARLEY_PORT ?? 3415}/healthz`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# Node takes up to 100 MiB for short-lived objects otherwise; so many less made no decision slower.
ENTRYPOINT ["node", "--max-semi-space-size=8", "/usr/local/bin/parley"]
CMD ["serve"]

# Agents themselves are not in it: an image FROM this one installs those that are wanted, each under its own terms. The
# sandbox needs namespaces that Docker denies by default (docs/how-to/operate.md, "Container").
FROM server AS agents
USER root
RUN apt-get update \
  && apt-get install --yes --no-install-recommends bubblewrap ca-certificates curl git patch procps python3 ripgrep \
  && rm -rf /var/lib/apt/lists/*
USER node

# What is built where no target is named.
FROM server
