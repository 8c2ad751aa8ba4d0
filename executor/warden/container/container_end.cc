#include "executor/warden/container/container_end.h"

#include <utility>

#include "executor/journal/byte_codec.h"
#include "executor/output/attempt_outputs.h"
#include "executor/warden/process/output_file.h"

namespace carillon::executor {
namespace {

constexpr uint32_t kEndVersion = 1;

}  // namespace

std::string EncodeEnd(const ContainerEnd& end) {
  ByteWriter out;
  out.U32(kEndVersion);
  out.U8(static_cast<uint8_t>(end.kind));
  out.I64(end.exit_code);
  out.Text(end.text);
  out.U8(end.stopped ? 1 : 0);
  out.Text(end.outputs_fault);
  out.U32(static_cast<uint32_t>(end.outputs.size()));
  for (const auto& [name, value] : end.outputs) {
    out.Text(name);
    out.Text(value);
  }
  return out.Take();
}

std::optional<ContainerEnd> ParseEnd(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.U32() != kEndVersion) return std::nullopt;
  ContainerEnd end;
  const uint8_t kind = in.U8();
  if (kind > static_cast<uint8_t>(ContainerEnd::Kind::kRemoved)) return std::nullopt;
  end.kind = static_cast<ContainerEnd::Kind>(kind);
  end.exit_code = static_cast<int>(in.I64());
  end.text = in.Text();
  end.stopped = in.U8() != 0;
  end.outputs_fault = in.Text();
  const uint32_t count = in.U32();
  if (count > kOutputsMax) return std::nullopt;
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string name = in.Text();
    end.outputs[std::move(name)] = in.Text();
  }
  if (!in.Finished()) return std::nullopt;
  return end;
}

void AddOutputsOf(ContainerEnd& end, const std::string& outputs_file,
                  const std::shared_ptr<const SecretPatterns>& patterns) {
  if (end.kind != ContainerEnd::Kind::kExited) return;
  const std::optional<OutputFile> file = ReadOutputFile(outputs_file);
  if (!file) return;
  if (file->fault != OutputFault::kNone) {
    end.outputs_fault = FaultText(file->fault);
    return;
  }
  Result<Outputs> outputs = ReadOutputs(file->text, patterns);
  if (outputs.ok()) {
    end.outputs = *std::move(outputs);
  } else {
    end.outputs_fault = outputs.error().message;
  }
}

}  // namespace carillon::executor
