// Which instruction set runs: the best the processor has, or the one MERCER_ISA names.
#pragma once
#include <string>
#include <vector>

#include "isa/ops.hpp"

namespace mercer {

/// The path in use. Chosen at first use from the processor and MERCER_ISA.
const Isa& current_isa();

/// Names of the paths this processor can run, slowest first.
std::vector<std::string> available_isas();

/// Switches to a path by name; throws std::invalid_argument for one that cannot run here.
void set_isa(const std::string& name);

template <class T>
const Ops<T>& ops() {
  return ops_of<T>(current_isa());
}

}  // namespace mercer
