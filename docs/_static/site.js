// What scrolls can be reached with the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll(".bd-article table, .bd-article pre"))
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
});
