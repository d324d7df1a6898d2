#include "isa/dispatch.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

namespace mercer {

Isa isa_plain();
#ifdef MERCER_X86
Isa isa_avx2();
Isa isa_avx512();
#endif

namespace {

std::vector<Isa> make_table() {
  std::vector<Isa> table{isa_plain()};
#ifdef MERCER_X86
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) table.push_back(isa_avx2());
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    table.push_back(isa_avx512());
#endif
  return table;
}

const std::vector<Isa>& table() {
  static const std::vector<Isa> t = make_table();
  return t;
}

/// The path of this name; `asked` says in the error who wants it.
const Isa* find(const std::string& asked, const std::string& name) {
  std::string paths;
  for (const Isa& isa : table()) {
    if (name == isa.name) return &isa;
    paths += (paths.empty() ? "" : ", ") + std::string(isa.name);
  }
  throw std::invalid_argument(asked + name +
                              ": no such instruction set on this processor, which has " + paths);
}

std::atomic<const Isa*>& chosen() {
  static std::atomic<const Isa*> c = [] {
    const char* wish = std::getenv("MERCER_ISA");
    if (!wish || !*wish) return &table().back();
    return find("MERCER_ISA=", wish);
  }();
  return c;
}

}  // namespace

const Isa& current_isa() {
  return *chosen().load(std::memory_order_acquire);
}

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Isa& isa : table()) names.emplace_back(isa.name);
  return names;
}

void set_isa(const std::string& name) {
  chosen().store(find("", name), std::memory_order_release);
}

}  // namespace mercer
