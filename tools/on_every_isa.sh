#!/bin/sh
# Run the C++ tests once per instruction set that they can run on here.
#
# usage: on_every_isa.sh PROGRAM [EMULATOR ARGUMENTS...]
set -e
program=$1
shift
for isa in $("$@" "$program" --isas); do
    echo "$isa: $(MERCER_ISA=$isa "$@" "$program")"
done
