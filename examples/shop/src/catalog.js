// What can be bought. Prices are in cents, so that sums are exact.

const items = [
  { id: "tea", name: "Green tea, 100 g", price: 690 },
  { id: "pot", name: "Cast-iron pot", price: 4900 },
  { id: "cup", name: "Stoneware cup", price: 1450 },
];

export function list() {
  return items;
}

export function find(id) {
  return items.find((item) => item.id === id) ?? null;
}
