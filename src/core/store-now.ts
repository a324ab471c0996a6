export { storeNow } from "./store/db.ts";
