#!/bin/sh
# Run the C++ tests once per instruction set that this processor has.
#
# usage: on_every_isa.sh PROGRAM
set -e
isas=$("$1" --isas)
for isa in $isas; do
    printf '%s: ' "$isa"
    MERCER_ISA=$isa "$1"
done
