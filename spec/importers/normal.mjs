// normal.mjs - what each importer made of a file, in one shape.
//
// A script here is called with files; it writes a JSON array with, for each of
// them, {file, threads: [{name, roots: [node]}]}. A node stands for the calls
// of a function from the same place: {name, source, self, total, calls, roots}.
// Times are milliseconds; source ("prog.lua:12") and calls are absent where the
// importer does not know them.

function sameKey (node) {
  return JSON.stringify([node.name, node.source ?? null])
}

// Nodes that read the same, as one.
export function grouped (nodes) {
  const groups = new Map()
  for (const node of nodes) {
    const key = sameKey(node)
    const group = groups.get(key)
    if (group === undefined)
      groups.set(key, {...node, roots: [...node.roots]})
    else {
      group.self += node.self
      group.total += node.total
      if (node.calls !== undefined)
        group.calls += node.calls
      group.roots.push(...node.roots)
    }
  }
  const list = [...groups.values()]
  for (const group of list)
    group.roots = grouped(group.roots)
  return list
}

// Calls `use(file)` for each file of the command line and prints the results.
export async function each (use) {
  const all = []
  for (const file of process.argv.slice(2)) {
    try {
      all.push({file, threads: await use(file)})
    }
    catch (error) {
      all.push({file, error: String(error?.stack ?? error)})
    }
  }
  process.stdout.write(JSON.stringify(all))
}
