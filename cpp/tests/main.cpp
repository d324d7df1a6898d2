// The program that runs every TEST of this folder; see harness.hpp for its arguments.
#define MERCER_TEST_MAIN
#include "harness.hpp"
