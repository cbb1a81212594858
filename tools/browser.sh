#!/bin/sh
# Sees to it that there is a Chromium for the tests of the pages; where it cannot be installed, those tests are skipped.
set -eu
for name in chromium chromium-browser google-chrome; do
  command -v "$name" > /dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "installing Chromium for the tests of the pages"
  apt-get update -qq > /dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null
else
  echo "Chromium is missing: the tests of the pages are skipped. Install it, and run again."
fi
