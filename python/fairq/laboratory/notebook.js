// The page of the lab in the cell of a notebook: its state goes to Python when it stands still,
// and comes from there.
async function render({ model, el }) {
  const address = URL.createObjectURL(new Blob([model.get("_page")], { type: "text/javascript" }));
  const page = await import(address);
  URL.revokeObjectURL(address);
  const scenario = model.get("scenario");
  const state = model.get("state");
  const lab = await page.mount(el, {
    hash: false,
    ...(scenario && { scenario }),
    ...(state && { state }),
  });
  const same = () => JSON.stringify(lab.state()) === JSON.stringify(model.get("state"));
  const tell = () => {
    if (!lab.playing && !same()) {
      model.set("state", lab.state());
      model.save_changes();
    }
  };
  const ends = ["change", "begin", "ended"].map((what) => lab.on(what, tell));
  const take = () => {
    if (!model.get("state") || same()) return;
    lab.load(model.get("state")).catch((fault) => lab.say(fault.message));
  };
  model.on("change:state", take);
  return () => {
    lab.pause();
    model.off("change:state", take);
    for (const end of ends) end();
  };
}
export default { render };
