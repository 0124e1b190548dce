#!/bin/sh
# exports.sh NM LIBRARY: the library exports the functions of quaver.h and nothing else.
others=$("$1" -D --defined-only "$2" | awk '$3 !~ /^qv_/ {print $3}')
count=$("$1" -D --defined-only "$2" | awk '$3 ~ /^qv_/' | wc -l)
[ -z "$others" ] || { echo "exports more than quaver.h: $others"; exit 1; }
[ "$count" -gt 40 ] || { echo "exports only $count functions"; exit 1; }
echo "$count functions"
