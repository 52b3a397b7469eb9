# Sets large pages aside, $1 of them, until its standard input closes, which happens when xtask closes it and also when xtask
# dies, however it dies. Says "ready" if there are as many; else what was taken is given back at once.
trap '' INT TERM HUP
pages=/proc/sys/vm/nr_hugepages
before=$(cat "$pages") || exit 1
if [ "$before" -ge "$1" ]; then
    echo ready
    exit 0
fi
echo "$1" 2>/dev/null >"$pages"
if [ "$(cat "$pages")" -ge "$1" ]; then
    echo ready
    cat >/dev/null
fi
echo "$before" 2>/dev/null >"$pages"
