#!/bin/sh
# No code compiled for a newer CPU may reach an older one.
#
# The objects of cpp/isa are compiled for their own instruction sets. If one of them held a weak
# symbol (an inline function or a template of a shared header), the linker could keep that copy for
# everybody, and a CPU without the instructions would stop there. So: no weak symbols in them.
#
# usage: check_isa.sh BUILD_TREE
status=0
for object in $(find "$1" -path '*mercer_core*' -name 'isa_*.o'); do
    weak=$(nm -C --defined-only "$object" | awk '$2 ~ /^[WVu]$/')
    if [ -n "$weak" ]; then
        echo "$object defines symbols that the linker may share with other code:" >&2
        echo "$weak" >&2
        status=1
    fi
done
exit $status
