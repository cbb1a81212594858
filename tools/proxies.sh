#!/bin/sh
# Sees to it that the proxies of deploy/ can be tried: unpacks nginx and Caddy into build/proxies, installs and starts nothing.
# Where packages cannot be fetched, those tests are skipped.
set -eu
where=build/proxies
missing=""
for name in nginx caddy; do
  command -v "$name" > /dev/null || [ -x "/usr/sbin/$name" ] || [ -n "$(find "$where" -name "$name" -type f 2> /dev/null)" ] || missing="$missing $name"
done
[ -z "$missing" ] && exit 0
if ! command -v apt-get > /dev/null; then
  echo "missing:$missing: the configurations of proxies are not tried. Install them, and run again."
  exit 0
fi
echo "fetching$missing for the tests of deploy/"
mkdir -p "$where"
[ "$(id -u)" = 0 ] && apt-get update -qq > /dev/null
cd "$where"
# shellcheck disable=SC2086
if apt-get download -qq $missing > /dev/null 2>&1; then
  for package in ./*.deb; do dpkg-deb -x "$package" .; done
  rm -f ./*.deb
else
  echo "they cannot be fetched: the configurations of proxies are not tried"
fi
