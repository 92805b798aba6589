// extension.js - VS Code's side of tracegrip: it starts the debug adapter
// (tracegrip dap), which does the debugging, and offers what has no place in
// the debug adapter's protocol: this file, this test, this recording, and a
// profile's times beside the lines.

const {execFile} = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const vscode = require("vscode");

const TYPE = "lua-tracegrip";

// VS Code says nothing of a command that is not there.
function command() {
  const name = vscode.workspace.getConfiguration("tracegrip").get("path");
  const places = name.includes("/") ? [name]
    : (process.env.PATH || "").split(":").map(one => path.join(one, name));
  if (!places.some(place => fs.existsSync(place))) {
    throw new Error(`There is no command ${name}: install tracegrip, or say ` +
                    "where it is in the settings (tracegrip.path).");
  }
  return name;
}

// ---- sessions ----

const adapters = {
  createDebugAdapterDescriptor() {
    return new vscode.DebugAdapterExecutable(command(), ["dap"]);
  }
};

// F5 without a launch.json debugs the file in front.
const configurations = {
  resolveDebugConfiguration(folder, config) {
    if (!config.type && !config.request) {
      Object.assign(config, {type: TYPE, request: "launch",
                             name: "Debug this file", program: "${file}"});
    }
    if (config.request === "launch" && !config.cwd && folder) {
      config.cwd = folder.uri.fsPath;
    }
    return config;
  }
};

function start(document, more, options) {
  const folder = vscode.workspace.getWorkspaceFolder(document);
  const cwd = folder ? folder.uri.fsPath : path.dirname(document.fsPath);
  const name = path.basename(document.fsPath);
  return vscode.debug.startDebugging(folder,
    {type: TYPE, request: "launch", name, cwd, ...more}, options);
}

// The file that a menu names, or the one in front, as it is on the disk.
async function file(uri) {
  const document = uri || vscode.window.activeTextEditor?.document.uri;
  if (!document) {
    throw new Error("There is no file to run.");
  }
  await vscode.workspace.saveAll(false);
  return document;
}

async function run(uri, options) {
  const document = await file(uri);
  return start(document, {program: document.fsPath}, options);
}

// ---- tests ----

const TEST = /^\s*(?:it|describe|test|spec|context)\s*\(?\s*(["'])(.*?)\1/;

const lenses = {
  provideCodeLenses(document) {
    if (!/_spec\.lua$/.test(document.fileName) ||
        !vscode.workspace.getConfiguration("tracegrip").get("testLenses")) {
      return [];
    }
    const list = [];
    for (let i = 0; i < document.lineCount; i++) {
      const line = document.lineAt(i), found = TEST.exec(line.text);
      if (found) {
        list.push(new vscode.CodeLens(line.range, {
          title: "Debug test", command: "tracegrip.debugTest",
          arguments: [document.uri, found[2]]
        }));
      }
    }
    return list;
  }
};

async function debugTest(uri, test) {
  const document = await file(uri);
  return start(document, {program: document.fsPath, busted: true, test});
}

// ---- recordings ----

function openRecording(uri) {
  return start(uri, {recording: uri.fsPath});
}

async function chooseRecording(uri) {
  const chosen = uri || (await vscode.window.showOpenDialog({
    filters: {"Recordings of tracegrip": ["tgr"]}
  }) || [])[0];
  return chosen && openRecording(chosen);
}

// A click on one begins a session; there is nothing to edit.
const recordings = {
  openCustomDocument(uri) {
    return {uri, dispose() {}};
  },
  resolveCustomEditor(document, panel) {
    const name = path.basename(document.uri.fsPath).replace(/[<&]/g, "");
    panel.webview.html = `<p>${name} is being stepped through: see Run and Debug.</p>`;
    openRecording(document.uri);
  }
};

// ---- times beside the lines ----

const times = vscode.window.createTextEditorDecorationType({
  after: {margin: "0 0 0 3em",
          color: new vscode.ThemeColor("editorCodeLens.foreground")},
  isWholeLine: true
});
let lines = new Map();          // path -> line -> ms

function execute(words, options) {
  return new Promise((resolve, reject) => {
    execFile(command(), words, {maxBuffer: 1 << 28, ...options},
             (error, stdout, stderr) =>
               error ? reject(new Error(stderr.trim() || error.message))
                     : resolve(stdout));
  });
}

function collect(report, cwd) {
  const found = new Map();
  for (const one of report.functions) {
    const name = path.resolve(cwd, one.url || "");
    const known = found.get(name) || new Map();
    found.set(name, known);
    for (const {line, self_ms} of one.lines || [])
      known.set(line, (known.get(line) || 0) + self_ms);
  }
  return found;
}

function decorate(editor) {
  const known = lines.get(editor.document.uri.fsPath) || new Map();
  editor.setDecorations(times, [...known].map(([line, ms]) => ({
    range: editor.document.lineAt(
      Math.min(line, editor.document.lineCount) - 1).range,
    renderOptions: {after: {contentText: `${ms.toFixed(1)} ms`}}
  })));
}

// What the program prints, or that it fails, is not what is asked for here.
async function profileFile(uri) {
  const document = await file(uri);
  const folder = vscode.workspace.getWorkspaceFolder(document);
  const cwd = folder ? folder.uri.fsPath : path.dirname(document.fsPath);
  const where = fs.mkdtempSync(path.join(os.tmpdir(), "tracegrip-"));
  const recording = path.join(where, "profile.tgr");
  try {
    await vscode.window.withProgress(
      {location: vscode.ProgressLocation.Notification, title: "Profiling"},
      () => execute(["record", "--sample", "1000", "-o", recording,
                     document.fsPath], {cwd}).catch(error => {
        if (!fs.existsSync(recording)) {
          throw error;
        }
      }));
    lines = collect(JSON.parse(await execute(
      ["report", "--json", "--lines", recording])), cwd);
  } finally {
    fs.rmSync(where, {recursive: true, force: true});
  }
  vscode.window.visibleTextEditors.forEach(decorate);
}

function hideTimes() {
  lines = new Map();
  vscode.window.visibleTextEditors.forEach(decorate);
}

exports.activate = context => {
  const commands = {
    runFile: uri => run(uri, {noDebug: true}), debugFile: uri => run(uri),
    debugTest, openRecording: chooseRecording, profileFile, hideTimes
  };
  context.subscriptions.push(
    times,
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, adapters),
    vscode.debug.registerDebugConfigurationProvider(TYPE, configurations),
    vscode.languages.registerCodeLensProvider({language: "lua"}, lenses),
    vscode.window.registerCustomEditorProvider("tracegrip.recording",
                                               recordings),
    vscode.window.onDidChangeVisibleTextEditors(all => all.forEach(decorate)),
    ...Object.keys(commands).map(name =>
      vscode.commands.registerCommand("tracegrip." + name, commands[name])));
};
