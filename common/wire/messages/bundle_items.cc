#include "common/wire/messages/bundle_items.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "common/wire/messages/decode_checks.h"

namespace carillon::wire {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr uint32_t kItemTag = WireFormatLite::MakeTag(1, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);

CodedInputStream StreamOf(std::string_view bytes) {
  return CodedInputStream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
}

// Reads the segment as Protobuf would: the last of several values counts, and a missing one
// is zero.
std::optional<SegmentId> SegmentOf(std::string_view item, int segment_field) {
  const uint32_t wanted = WireFormatLite::MakeTag(segment_field, WireFormatLite::WIRETYPE_VARINT);
  CodedInputStream input = StreamOf(item);
  uint32_t segment = 0;
  while (const uint32_t tag = input.ReadTag()) {
    const bool read =
        tag == wanted ? input.ReadVarint32(&segment) : WireFormatLite::SkipField(&input, tag);
    if (!read) return std::nullopt;
  }
  if (!input.ConsumedEntireMessage() || segment > kSegmentMax) return std::nullopt;
  return SegmentId(segment);
}

}  // namespace

Result<std::vector<BundleItem>> ItemsOfBundle(std::string_view bundle, int segment_field) {
  const auto corrupt = [] { return Error{ErrorCode::kCorrupt, "bus payload: not a bundle"}; };
  CodedInputStream input = StreamOf(bundle);
  std::vector<BundleItem> items;
  while (const uint32_t tag = input.ReadTag()) {
    if (tag != kItemTag) {
      if (!WireFormatLite::SkipField(&input, tag)) return corrupt();
      continue;
    }
    uint32_t length = 0;
    if (!input.ReadVarint32(&length)) return corrupt();
    const auto begin = static_cast<size_t>(input.CurrentPosition());
    if (length > bundle.size() - begin) return corrupt();
    const std::string_view item = bundle.substr(begin, length);
    if (!input.Skip(static_cast<int>(length))) return corrupt();
    items.push_back({.bytes = item, .segment = SegmentOf(item, segment_field)});
  }
  if (!input.ConsumedEntireMessage()) return corrupt();
  return items;
}

}  // namespace carillon::wire
