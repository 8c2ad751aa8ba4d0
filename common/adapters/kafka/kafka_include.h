// The only way to librdkafka's C API.
#pragma once

#include <librdkafka/rdkafka.h>
