import { useQuery } from "../../query/query.ts";
import { admin } from "../api.ts";

const FRESH_MS = 5000;

/** Reads what waits and will not end by itself, every five seconds. */
export function useStuck() {
  return useQuery({
    queryKey: ["console", "stuck"],
    queryFn: ({ signal }) => admin.stuck({ signal }),
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  });
}
