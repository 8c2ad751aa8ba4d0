// A certificate authority for tests and the certificates that it signs, as files in a directory.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/adapters/system/system_clock.h"
#include "common/tls/certificates.h"

namespace carillon::test {

class CertificateFiles {
 public:
  explicit CertificateFiles(const std::string& name = "test authority")
      : directory_(MakeDirectory()),
        authority_(tls::Authority::Create(name, {.from = Now() - 1h, .until = Now() + 24h})) {
    Write("ca.pem", authority_.certificate());
  }
  ~CertificateFiles() { std::filesystem::remove_all(directory_); }
  CertificateFiles(const CertificateFiles&) = delete;
  CertificateFiles& operator=(const CertificateFiles&) = delete;

  const tls::Authority& authority() const { return authority_; }
  std::string Path(const std::string& file) const { return directory_ + "/" + file; }
  std::string ca_file() const { return Path("ca.pem"); }

  void Write(const std::string& file, const std::string& text) const {
    std::ofstream out(Path(file), std::ios::binary | std::ios::trunc);
    out << text;
    EXPECT_TRUE(out.flush().good()) << file;
  }

  // Writes `stem`.crt and `stem`.key: a new certificate for `name` and `addresses`, and its key.
  void Issue(const std::string& stem, const std::string& name,
             const std::vector<std::string>& addresses = {"127.0.0.1"}, Duration life = 1h) const {
    const std::string key = tls::NewKey();
    const auto issued = authority_.IssueFor(key, {.common_name = name,
                                                  .addresses = addresses,
                                                  .from = Now() - 30min,
                                                  .until = Now() + life});
    ASSERT_TRUE(issued.ok()) << issued.error().message;
    Write(stem + ".crt", *issued);
    Write(stem + ".key", key);
  }

  static WallTime Now() { return SystemClock().Wall(); }

 private:
  static std::string MakeDirectory() {
    std::string name = ::testing::TempDir() + "carillon-certificates-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }

  const std::string directory_;
  const tls::Authority authority_;
};

}  // namespace carillon::test
