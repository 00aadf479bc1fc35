// What scrolls can be reached with the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll(".bd-article table, .bd-article pre"))
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  // Its text is its name, which a voice can say.
  for (const button of document.querySelectorAll(".search-button-field")) button.removeAttribute("aria-label");
  for (const summary of document.querySelectorAll("nav details > summary")) {
    const link = summary.closest("li")?.querySelector("a");
    if (link) summary.setAttribute("aria-label", `Pages of ${link.textContent.trim()}`);
  }
});
