#!/bin/sh
# Installs the mail server that test/channels/email-imap.test.ts reads its mail from (Debian, Ubuntu; needs root).
# Without it that one file skips itself; where CI is set it fails. Nothing of it is started but by the test.
set -eu
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends dovecot-core dovecot-imapd dovecot-lmtpd
