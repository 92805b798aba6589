// agree.mjs SNAPSHOT... - what memlab has of snapshots, as JSON: how many nodes
// each has, their own bytes, and of each node by id what it retains.

import memlab from "@memlab/core"

const {analysis, config, utils} = memlab
config.muteConsole = true

async function read (path) {
  const snapshot = await utils.getSnapshotFromFile(path,
    {buildNodeIdIndex: true})
  const seen = {nodes: 0, self: 0, retained: {}}
  analysis.preparePathFinder(snapshot)
  snapshot.nodes.forEach((node) => {
    seen.nodes++
    seen.self += node.self_size
    seen.retained[node.id] = node.retainedSize
  })
  return seen
}

const list = []
for (const path of process.argv.slice(2))
  list.push(await read(path))
console.log(JSON.stringify(list))
