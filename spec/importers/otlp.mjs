// otlp.mjs FILE... - documents of "export otlp" as OpenTelemetry's published
// messages have them, by the code that is made of its .proto files
// (@opentelemetry/otlp-transformer).
//
// A line is read as a message and told again: what is not a field of it, or of
// another type, differs then. In OTLP's JSON ids are hexadecimal; protobuf's
// own has base64.
//
// Prints a list of {file, batches, spans, links, events, wrong, protobuf,
// gzip}: 'wrong' says what differs, null if nothing does; the last two are the
// bytes of the messages in protobuf, and those compressed.

import assert from "node:assert/strict"
import {readFileSync} from "node:fs"
import {createRequire} from "node:module"
import {gzipSync} from "node:zlib"

const require = createRequire(import.meta.url)
const {opentelemetry} = require(
  "./node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js")
const Request
  = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest

const digits = {traceId: 32, spanId: 16, parentSpanId: 16}

function toBase64 (key, id) {
  assert.match(id, new RegExp(`^[0-9a-f]{${digits[key]}}$`), key)
  return Buffer.from(id, "hex").toString("base64")
}

// An empty list is the same as none, to protobuf.
const withBase64 = (line) => JSON.parse(line, (key, value) =>
  digits[key] ? toBase64(key, value) : value?.length === 0
    && Array.isArray(value) ? undefined : value)

// The message that a line is.
function read (line) {
  const told = withBase64(line)
  const message = Request.fromObject(told)
  assert.equal(Request.verify(message), null)
  const bytes = Request.encode(message).finish()
  assert.deepEqual(Request.toObject(Request.decode(bytes),
                                    {longs: String, bytes: String}), told)
  return {told, bytes}
}

const sum = (list, of) => list.reduce((n, one) => n + of(one), 0)

function contents (lines) {
  const messages = lines.map(read)
  const spans = messages.flatMap(({told}) => told.resourceSpans)
    .flatMap(({scopeSpans}) => scopeSpans).flatMap(({spans}) => spans)
  return {
    batches: messages.length, spans: spans.length,
    links: sum(spans, ({links = []}) => links.length),
    events: sum(spans, ({events = []}) => events.length),
    protobuf: sum(messages, ({bytes}) => bytes.length),
    gzip: sum(messages, ({bytes}) => gzipSync(bytes).length)
  }
}

function tried (file) {
  try {
    const lines = readFileSync(file, "utf8").split("\n").filter(Boolean)
    return {file, wrong: null, ...contents(lines)}
  }
  catch (error) {
    return {file, wrong: error.message}
  }
}

console.log(JSON.stringify(process.argv.slice(2).map(tried)))
