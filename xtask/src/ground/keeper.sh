# Stands guard over one private PostgreSQL: $1 is its folder, the rest is the command line of pg_ctl.
# It reads its standard input until that closes, which happens when xtask closes it and also when xtask dies,
# however it dies. Then the server is stopped and the folder removed. Signals of a terminal do not concern it.
trap '' INT TERM HUP
folder=$1
shift
cd /
cat >/dev/null
if [ -e "$folder/data/postmaster.pid" ]; then
    # Nothing of it is kept, so that nothing needs to be written out before it ends.
    "$@" stop --pgdata="$folder/data" --mode=immediate --wait >/dev/null
fi
rm -rf "$folder"
