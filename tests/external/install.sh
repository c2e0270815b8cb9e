#!/bin/sh
# Installs what the tests against other programs need: install.sh slurm|opensm|tools|browser. Debian's packages, as root;
# and the crate caminos, built from its source into target/tools, which takes minutes.
set -eu

case "${1:-}" in
slurm) packages="munge slurmctld slurmd slurm-client" crates="" ;;
opensm) packages="opensm ibsim-utils infiniband-diags libumad2sim0" crates="" ;;
tools) packages="graphviz metis python3-simgrid libssl-dev pkg-config" crates="caminos" ;;
browser)
    # Any browser that the tests find will do, also one that is no package.
    for program in chromium chromium-browser google-chrome chrome; do
        ! command -v "$program" >/dev/null || exit 0
    done
    packages="chromium" crates=""
    ;;
*) echo "usage: $0 slurm|opensm|tools|browser" >&2 && exit 2 ;;
esac

missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing="$missing $package"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "these Debian packages are missing, and installing them needs root:$missing" >&2
        exit 2
    fi
    # No daemon is started: the tests start their own.
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d.topoloom
    chmod +x /usr/sbin/policy-rc.d.topoloom
    [ -e /usr/sbin/policy-rc.d ] || ln -s policy-rc.d.topoloom /usr/sbin/policy-rc.d
    trap '[ "$(readlink /usr/sbin/policy-rc.d)" = policy-rc.d.topoloom ] && rm /usr/sbin/policy-rc.d; rm -f /usr/sbin/policy-rc.d.topoloom' EXIT
    apt-get update -qq
    # shellcheck disable=SC2086 # several packages
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

tools="$(dirname "$0")/../../target/tools"
for crate in $crates; do
    command -v "$crate" >/dev/null || [ -x "$tools/bin/$crate" ] || cargo install --quiet --locked --root "$tools" "$crate"
done
