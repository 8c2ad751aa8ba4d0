// The only include of librdkafka's C API.
#pragma once

#include <librdkafka/rdkafka.h>
