import { z } from "zod";

/** A moment, as RFC 3339 writes it. */
export const wireMoment = z.string().meta({ format: "date-time" });
