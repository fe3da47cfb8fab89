// One entry a route. A handler takes the parsed request and gives a status and a body.

import * as accounts from "./accounts.js";
import * as cart from "./cart.js";
import * as catalog from "./catalog.js";

export const routes = {
  "GET /api/items": () => ({ status: 200, body: catalog.list() }),
  "POST /api/cart/total": ({ body }) => ({ status: 200, body: { total: cart.total(body.cart) } }),
  "POST /api/register": ({ body }) => {
    accounts.register(body.email, body.password);
    return { status: 201, body: {} };
  },
  "POST /api/login": ({ body }) => ({ status: accounts.check(body.email, body.password) ? 200 : 401, body: {} }),
};
