// Once a minute, ask the tiny version address whether this page has a newer version; then show the pill.
(function () {
  "use strict";
  var head = document.querySelector(".headline");
  var pill = document.getElementById("fresh");
  if (!head || !pill || !head.dataset.section || head.dataset.version === "0") return;
  function look() {
    if (document.hidden) return;
    fetch("/v1/editions/" + head.dataset.edition + "/version", { credentials: "omit" })
      .then(function (answer) { return answer.ok ? answer.json() : null; })
      .then(function (found) {
        var now = found && found.sections[head.dataset.section];
        if (now && now > Number(head.dataset.version)) pill.hidden = false;
      })
      .catch(function () { /* offline: the page stays as it is */ });
  }
  pill.addEventListener("click", function (event) { event.preventDefault(); location.reload(); });
  setInterval(look, 60000);
})();
