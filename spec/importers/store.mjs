// store.mjs JOB.json - ClickHouse itself, embedded (chdb), with spans as the
// OpenTelemetry Collector's exporter for ClickHouse stores them.
//
// The job: {files: documents of "export otlp", queries: name -> SQL,
// parameters: name -> value, for {name:String} in them}. Printed: {rows: name
// -> list, spans, size, seconds}, where 'size' is what the table takes on the
// disk, in bytes, all parts merged, and 'seconds' what inserting took.

import {mkdtempSync, readFileSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {join} from "node:path"
import {Session} from "chdb"

// Columns and indexes that the exporter's table has, in its order; all are
// compressed by zstd.
const columns = `
  Timestamp DateTime64(9) CODEC(Delta, ZSTD(1)),
  TraceId String CODEC(ZSTD(1)),
  SpanId String CODEC(ZSTD(1)),
  ParentSpanId String CODEC(ZSTD(1)),
  TraceState String CODEC(ZSTD(1)),
  SpanName LowCardinality(String) CODEC(ZSTD(1)),
  SpanKind LowCardinality(String) CODEC(ZSTD(1)),
  ServiceName LowCardinality(String) CODEC(ZSTD(1)),
  ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  ScopeName String CODEC(ZSTD(1)),
  ScopeVersion String CODEC(ZSTD(1)),
  SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  Duration UInt64 CODEC(ZSTD(1)),
  StatusCode LowCardinality(String) CODEC(ZSTD(1)),
  StatusMessage String CODEC(ZSTD(1)),
  Events Nested (
    Timestamp DateTime64(9), Name LowCardinality(String),
    Attributes Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
  Links Nested (
    TraceId String, SpanId String, TraceState String,
    Attributes Map(LowCardinality(String), String)) CODEC(ZSTD(1))`

const indexes = [
  ["trace_id", "TraceId", "bloom_filter(0.001)"],
  ["res_attr_key", "mapKeys(ResourceAttributes)", "bloom_filter(0.01)"],
  ["res_attr_value", "mapValues(ResourceAttributes)", "bloom_filter(0.01)"],
  ["span_attr_key", "mapKeys(SpanAttributes)", "bloom_filter(0.01)"],
  ["span_attr_value", "mapValues(SpanAttributes)", "bloom_filter(0.01)"],
  ["duration", "Duration", "minmax"],
].map(([name, of, type]) =>
  `INDEX idx_${name} ${of} TYPE ${type} GRANULARITY 1`)

const table = `CREATE TABLE otel_traces (${[columns, ...indexes].join(",\n  ")})
  ENGINE = MergeTree PARTITION BY toDate(Timestamp)
  ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))`

// As the Collector's names have them (ptrace.SpanKind, ptrace.StatusCode).
const kinds = ["Unspecified", "Internal", "Server", "Client", "Producer",
               "Consumer"]
const codes = ["Unset", "Ok", "Error"]

const plain = ({stringValue, intValue, boolValue}) =>
  stringValue ?? intValue ?? String(boolValue)

const map = (attributes = []) =>
  Object.fromEntries(attributes.map(({key, value}) => [key, plain(value)]))

// Nanoseconds since 1970 as seconds with their decimals, all of them, which are
// more than a double has.
const time = (ns) => ns.padStart(10, "0").replace(/(\d{9})$/, ".$1")

const list = (objects = [], pick) => objects.map(pick)

function row (span, scope, resource) {
  const {events, links, status = {}} = span
  return {
    Timestamp: time(span.startTimeUnixNano), TraceId: span.traceId,
    SpanId: span.spanId, ParentSpanId: span.parentSpanId ?? "", TraceState: "",
    SpanName: span.name, SpanKind: kinds[span.kind],
    ServiceName: resource["service.name"] ?? "", ResourceAttributes: resource,
    ScopeName: scope.name ?? "", ScopeVersion: scope.version ?? "",
    SpanAttributes: map(span.attributes),
    Duration: String(BigInt(span.endTimeUnixNano)
                     - BigInt(span.startTimeUnixNano)),
    StatusCode: codes[status.code ?? 0], StatusMessage: status.message ?? "",
    "Events.Timestamp": list(events, (e) => time(e.timeUnixNano)),
    "Events.Name": list(events, (e) => e.name),
    "Events.Attributes": list(events, (e) => map(e.attributes)),
    "Links.TraceId": list(links, (l) => l.traceId),
    "Links.SpanId": list(links, (l) => l.spanId),
    "Links.TraceState": list(links, () => ""),
    "Links.Attributes": list(links, (l) => map(l.attributes)),
  }
}

function rowsOf (line) {
  return JSON.parse(line).resourceSpans.flatMap(({resource, scopeSpans}) =>
    scopeSpans.flatMap(({scope, spans}) =>
      spans.map((span) => row(span, scope, map(resource.attributes)))))
}

// As many as the Collector's batch processor may hold back for one insert.
const BATCH = 10000

async function insert (session, rows) {
  const values = rows.map((one) => JSON.stringify(one)).join("\n")
  const before = performance.now()
  await session.insert({table: "otel_traces", format: "JSONEachRow", values})
  return (performance.now() - before) / 1000
}

async function load (session, files) {
  const rows = files.flatMap((file) =>
    readFileSync(file, "utf8").split("\n").filter(Boolean).flatMap(rowsOf))
  let seconds = 0
  for (let i = 0; i < rows.length; i += BATCH)
    seconds += await insert(session, rows.slice(i, i + BATCH))
  return {spans: rows.length, seconds}
}

const rows = (session, sql, parameters) =>
  session.queryBind(sql, parameters, "JSONEachRow").split("\n").filter(Boolean)
    .map((line) => JSON.parse(line))

function answer (session, queries, parameters) {
  return Object.fromEntries(Object.entries(queries).map(([name, sql]) =>
    [name, rows(session, sql, parameters)]))
}

function sizeOf (session) {
  session.query("OPTIMIZE TABLE otel_traces FINAL")
  const [{size}] = rows(session, `SELECT sum(bytes_on_disk) AS size
    FROM system.parts WHERE table = 'otel_traces' AND active`, {})
  return Number(size)
}

async function run ({files, queries = {}, parameters = {}}) {
  const directory = mkdtempSync(join(tmpdir(), "spans-"))
  const session = new Session(directory)
  try {
    session.query("CREATE DATABASE spans")
    session.query("USE spans")
    session.query(table)
    const loaded = await load(session, files)
    return {...loaded, rows: answer(session, queries, parameters),
            size: sizeOf(session)}
  }
  finally {
    session.close()
    rmSync(directory, {recursive: true, force: true})
  }
}

const job = JSON.parse(readFileSync(process.argv[2], "utf8"))
console.log(JSON.stringify(await run(job)))
