// Which instruction set runs: the widest the processor has, or the one MERCER_ISA names.
#pragma once
#include <string>
#include <vector>

#include "isa/ops.hpp"

namespace mercer {

/// The path in use. Chosen at first use from the processor and MERCER_ISA.
const Isa& current_isa();

/// Why that path is in use, in a few words.
std::string isa_reason();

/// Names of the paths this processor can run, slowest first. The first, `wide`, is for tests: it
/// runs only where it is asked for.
std::vector<std::string> available_isas();

/// Switches to a path by name; throws std::invalid_argument for one that cannot run here.
void set_isa(const std::string& name);

template <class T>
const Ops<T>& ops() {
  return ops_of<T>(current_isa());
}

}  // namespace mercer
