// Runs a check once per instruction set that this processor has.
#pragma once
#include <string>

#include "isa/dispatch.hpp"

namespace mercer::testing {

/// Returns to the usual path afterwards.
template <class F>
void on_every_isa(F f) {
  const std::string usual = current_isa().name;
  for (const std::string& name : available_isas()) {
    set_isa(name);
    f();
  }
  set_isa(usual);
}

}  // namespace mercer::testing
