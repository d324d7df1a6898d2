// The program that runs every TEST of this folder; see harness.hpp for its arguments. "--isas"
// prints the instruction sets that this processor has.
#include <string_view>

#include "harness.hpp"
#include "isa/dispatch.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--isas") {
    for (const std::string& name : mercer::available_isas()) std::printf("%s\n", name.c_str());
    return 0;
  }
  return mercer::testing::run_all(argc, argv);
}
