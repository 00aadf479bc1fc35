// What scrolls can be reached with the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll(".bd-article table, .bd-article pre, .bd-article :has(> img)"))
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  // The head of a column without words is no head.
  for (const head of document.querySelectorAll(".bd-article th"))
    if (!head.textContent.trim()) head.setAttribute("role", "cell");
  // Its name is its text, which a voice can say, also where the text is hidden.
  for (const button of document.querySelectorAll(".search-button-field"))
    button.setAttribute("aria-label", button.textContent.replace(/\s+/g, " ").trim());
  for (const summary of document.querySelectorAll("nav details > summary")) {
    const link = summary.closest("li")?.querySelector("a");
    if (link) summary.setAttribute("aria-label", `Pages of ${link.textContent.trim()}`);
  }
});
