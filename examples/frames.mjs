// A client in another language: prints the frames of a program that listens.
//
//   lua5.4 examples/served.lua 6006 &
//   node examples/frames.mjs 6006 [MAX_EVENTS]

import net from "node:net";

const [port, maxEvents = "1000"] = process.argv.slice(2);
const socket = net.connect({host: "127.0.0.1", port: Number(port)});
const send = (type, more = {}) => {
  const body = Buffer.from(JSON.stringify({to: "trace1", type, ...more}));
  socket.write(body.length + ":");
  socket.write(body);
};

let depth = 0;
const take = (packet) => {
  if (packet.error) throw new Error(packet.message);
  if (packet.from === "root") send("attach");
  if (packet.type === "attached")
    send("startTrace", {trace: ["name", "time"], maxEvents: Number(maxEvents)});
  if (packet.type === "stoppedTrace") socket.end();
  if (packet.type === "exitedFrame") depth--;
  if (packet.type === "enteredFrame")
    console.log(packet.time.toFixed(3) + "  ".repeat(1 + depth++) + packet.name);
};

let bytes = Buffer.alloc(0);
socket.on("data", (piece) => {
  bytes = Buffer.concat([bytes, piece]);
  for (let colon; (colon = bytes.indexOf(":")) >= 0;) {
    const end = colon + 1 + Number(bytes.subarray(0, colon));
    if (bytes.length < end) return;
    take(JSON.parse(bytes.subarray(colon + 1, end)));
    bytes = bytes.subarray(end);
  }
});
