# One image: the server with its web app, for a data volume at /data or a PostgreSQL named by DATABASE_URL.

FROM node:24-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json ./
COPY sdk/package.json sdk/
COPY web/package.json web/

# No install script runs: no package of the product needs one, and Node is in the base image.
FROM manifests AS web
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY sdk sdk
COPY tsconfig.json ./
COPY web web
RUN npm run build --workspace=web

FROM manifests AS packages
RUN npm ci --omit=dev --workspace=sdk --include-workspace-root --ignore-scripts --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production PARLEY_HOST=0.0.0.0 PARLEY_DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE policy.assignment.yaml ./
COPY bin bin
COPY prompts prompts
COPY sdk sdk
COPY src src
COPY --from=web /app/web/dist web/dist
RUN install --directory --owner=node --group=node --mode=0700 /data && ln -s /app/bin/parley.mjs /usr/local/bin/parley
USER node
VOLUME /data
EXPOSE 3415
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PARLEY_PORT ?? 3415}/healthz`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "bin/parley.mjs"]
CMD ["serve"]
