-- shell.lua - what the pages of recordings and of heap snapshots have in common
-- (htmlpage.lua, heappage.lua): where the title, the bar, the picture, what is
-- chosen, the data and the script stand.
--
-- A function of the parts that differ, all text: style, bar, stage, script.
-- What it gives has a place for the data, the comment "data".

return function (parts)
  return [==[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>tracegrip</title>
<style>
]==] .. parts.style .. [==[
</style>
</head>
<body aria-busy="true">
<header>
  <div id="head">
    <h1 id="title">tracegrip</h1><span id="about"></span>
    <button id="theme" disabled aria-label="Light or dark">Dark</button>
  </div>
  <div id="bar" inert>
]==] .. parts.bar .. [==[
  </div>
</header>
<main>
  <div id="stage">
    <p id="loading" role="status">Loading…</p>
    <noscript><p>This page needs JavaScript.</p></noscript>
]==] .. parts.stage .. [==[
  </div>
  <div id="keys"></div>
  <section id="detail" aria-live="polite" aria-atomic="true"
    aria-label="What is chosen" tabindex="0"></section>
</main>
<div id="tip" hidden></div>
<script>
  // Shown until all is unpacked, or for good where the browser is too old.
  onerror = onunhandledrejection = event => {
    const loading = document.getElementById("loading");
    const why = event.reason || event.message || event;
    if (loading) loading.textContent = "This browser cannot show it: " + why;
  };
</script>
<!-- data -->
<script type="module">

]==] .. parts.script .. [==[
</script>
</body>
</html>
]==]
end
