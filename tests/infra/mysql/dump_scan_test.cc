// The scan of a dump while it is copied, and the command lines of the tools that write and load it.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/adapters/mysql/backup/client_tool.h"
#include "common/adapters/mysql/backup/dump_scan.h"

namespace carillon::mysql {
namespace {

using Counts = std::map<std::string, int64_t>;

struct Scanned {
  std::string out;
  Counts rows;
  bool complete = false;
};

Scanned ScanInPieces(std::string_view text, size_t size) {
  DumpScan scan;
  Scanned scanned;
  for (size_t at = 0; at < text.size(); at += size) {
    scan.Feed(text.substr(at, size), &scanned.out);
  }
  scanned.rows = scan.rows();
  scanned.complete = scan.complete();
  return scanned;
}

constexpr std::string_view kDump =
    "/*M!999999\\- enable the sandbox mode */ \n"
    "CREATE TABLE `a` (\n  `n` int(11) DEFAULT (1),\n  `t` text COMMENT 'INSERT INTO `b`'\n);\n"
    "INSERT INTO `a` VALUES\n(1,'x;('),\n(2,'it\\'s \\\\'),\n(3,NULL);\n"
    "INSERT INTO `a` VALUES (4,0x28),(5,')\\n(');\n"
    "INSERT INTO `c` (`n`, `m`) VALUES (1,2);\n"
    "-- Dump completed on 2026-03-01  2:00:00\n";

TEST(DumpScanTest, RowsAreCountedHoweverTheDumpComesInPieces) {
  for (const size_t size : {size_t{1}, size_t{7}, kDump.size()}) {
    const Scanned scanned = ScanInPieces(kDump, size);
    EXPECT_EQ(scanned.rows, (Counts{{"a", 5}, {"c", 1}})) << size;
    EXPECT_EQ(scanned.out, kDump) << size;
    EXPECT_TRUE(scanned.complete) << size;
  }
}

TEST(DumpScanTest, DumpThatWasCutAnywhereIsNotComplete) {
  for (size_t size = 0; size < kDump.size(); ++size) {
    EXPECT_FALSE(ScanInPieces(kDump.substr(0, size), 64).complete) << size;
  }
  EXPECT_FALSE(ScanInPieces(std::string(kDump) + "INSERT INTO `a` VALUES (6,'x", 64).complete);
  EXPECT_FALSE(ScanInPieces("INSERT INTO `a` VALUES ('\n-- Dump completed\n", 64).complete);
}

TEST(DumpScanTest, DefinerOfAViewIsLeftOut) {
  const Scanned scanned = ScanInPieces(
      "/*!50001 CREATE ALGORITHM=UNDEFINED */\n"
      "/*!50013 DEFINER=`ann`@`%` SQL SECURITY INVOKER */\n/*!50001 VIEW `v` AS select 1 */;\n",
      9);
  EXPECT_EQ(scanned.out,
            "/*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013 SQL SECURITY INVOKER */\n"
            "/*!50001 VIEW `v` AS select 1 */;\n");
}

bool Has(const std::vector<std::string>& command, const std::string& word) {
  return std::find(command.begin(), command.end(), word) != command.end();
}

TEST(ClientToolTest, PasswordIsInNoArgumentAndNoOptionFileIsRead) {
  const SessionOptions session{.host = "db", .user = "u", .password = "p4ss", .database = "d"};
  for (const ToolKind kind : {ToolKind::kMariadb, ToolKind::kMysql}) {
    for (const auto& command :
         {DumpCommand({"/x", kind}, session, {"a", "b"}), LoadCommand({"/x", kind}, session)}) {
      EXPECT_EQ(command[1], "--no-defaults");
      for (const std::string& word : command) EXPECT_EQ(word.find("p4ss"), std::string::npos);
    }
    const auto dump = DumpCommand({"/x", kind}, session, {"a", "b"});
    EXPECT_TRUE(Has(dump, "--single-transaction"));
    EXPECT_EQ(std::vector<std::string>(dump.end() - 3, dump.end()),
              (std::vector<std::string>{"d", "a", "b"}));
  }
}

TEST(ClientToolTest, ConnectionIsAsSafeAsTheMembers) {
  SessionOptions session{.host = "db", .user = "u", .database = "d", .tls_ca_file = "/ca"};
  const auto words = [&](ToolKind kind) { return LoadCommand({"/x", kind}, session); };
  EXPECT_TRUE(Has(words(ToolKind::kMariadb), "--skip-ssl"));
  EXPECT_TRUE(Has(words(ToolKind::kMysql), "--ssl-mode=DISABLED"));
  session.tls = TlsMode::kRequired;
  EXPECT_TRUE(Has(words(ToolKind::kMariadb), "--ssl"));
  EXPECT_TRUE(Has(words(ToolKind::kMysql), "--ssl-mode=REQUIRED"));
  session.tls = TlsMode::kVerify;
  EXPECT_TRUE(Has(words(ToolKind::kMariadb), "--ssl-verify-server-cert"));
  EXPECT_TRUE(Has(words(ToolKind::kMariadb), "--ssl-ca=/ca"));
  EXPECT_TRUE(Has(words(ToolKind::kMysql), "--ssl-mode=VERIFY_IDENTITY"));
  EXPECT_TRUE(Has(words(ToolKind::kMysql), "--ssl-ca=/ca"));
}

TEST(ClientToolTest, MissingProgramsAreNamed) {
  const auto missing = FindDumpTool("/nowhere::/dev");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("mariadb-client"), std::string::npos);
}

}  // namespace
}  // namespace carillon::mysql
