// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/blocking_stream.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "proto/v1/artifact.grpc.pb.h"

namespace tritond::server {
namespace {

using Writer = BlockingWriter<v1::BundleChunk>;
using Reader = BlockingReader<v1::BundleChunk>;

constexpr absl::Duration kPatience = absl::Milliseconds(200);

// Sends chunks without end, and counts those that come.
class Service final : public v1::ArtifactService::CallbackService {
 public:
  grpc::ServerWriteReactor<v1::BundleChunk>* Export(grpc::CallbackServerContext* context,
                                                    const v1::ExportRequest*) override {
    EXPECT_TRUE(slots.Take());
    return new Writer(slots, *context, [this](Writer& out) {
      v1::BundleChunk chunk;
      chunk.set_data(std::string(100000, 'x'));
      while (out.Write(chunk)) ++written;
      export_ended.Set();
      return absl::CancelledError("nobody takes it");
    });
  }
  grpc::ServerReadReactor<v1::BundleChunk>* Import(grpc::CallbackServerContext*,
                                                   v1::ImportResponse* response) override {
    EXPECT_TRUE(slots.Take());
    return new Reader(slots, [response](Reader& in) {
      v1::BundleChunk chunk;
      while (in.Read(&chunk)) response->set_bytes(response->bytes() + chunk.data().size());
      return in.cancelled() ? absl::CancelledError("gone") : absl::OkStatus();
    });
  }

  StreamSlots slots{1, kPatience};
  std::atomic<int> written{0};
  timing::Event export_ended;
};

class BlockingStream : public testing::Test {
 protected:
  BlockingStream() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service);
    server = builder.BuildAndStart();
    stub = v1::ArtifactService::NewStub(
        grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  }
  // The slot is free, or will be within reason.
  bool SlotComesBack() {
    timing::Event pause;
    for (int i = 0; i < 1000; ++i) {
      if (service.slots.Take()) {
        service.slots.GiveBack();
        return true;
      }
      pause.WaitFor(absl::Milliseconds(10));
    }
    return false;
  }
  static v1::BundleChunk Chunk(const std::string& data) {
    v1::BundleChunk chunk;
    chunk.set_data(data);
    return chunk;
  }

  Service service;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<v1::ArtifactService::Stub> stub;
  grpc::ClientContext context;
};

TEST_F(BlockingStream, ACallerThatSendsIsHeardToItsEnd) {
  v1::ImportResponse response;
  auto stream = stub->Import(&context, &response);
  timing::Event pause;
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(stream->Write(Chunk("1234")));
    pause.WaitFor(kPatience / 4);  // The patience is for the next message, not for all.
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(response.bytes(), 24u);
  EXPECT_TRUE(SlotComesBack());
}

TEST_F(BlockingStream, ACallerThatStopsSendingLosesItsSlotAndHearsWhy) {
  v1::ImportResponse response;
  auto stream = stub->Import(&context, &response);
  EXPECT_TRUE(stream->Write(Chunk("1234")));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(status.error_message(), "nothing came for 200ms");
  EXPECT_TRUE(SlotComesBack());
}

TEST_F(BlockingStream, ACallerThatStopsTakingLosesItsSlot) {
  auto stream = stub->Export(&context, {});
  v1::BundleChunk chunk;
  EXPECT_TRUE(stream->Read(&chunk));
  EXPECT_TRUE(service.export_ended.WaitFor(absl::Seconds(30)));
  EXPECT_TRUE(SlotComesBack());
  while (stream->Read(&chunk)) {
  }
  EXPECT_FALSE(stream->Finish().ok());
}

TEST_F(BlockingStream, ACallerThatGoesGivesItsSlotBack) {
  auto stream = stub->Export(&context, {});
  v1::BundleChunk chunk;
  EXPECT_TRUE(stream->Read(&chunk));  // the call has reached the service
  context.TryCancel();
  EXPECT_TRUE(service.export_ended.WaitFor(absl::Seconds(30)));
  EXPECT_TRUE(SlotComesBack());
  stream->Finish();
}

}  // namespace
}  // namespace tritond::server
