import type { LanguageModel } from "ai";
import { systemFetch } from "../../lib/network/fetch.ts";
import type { ModelAddress } from "./wire.ts";

/** No model has business sending its caller, and the key, somewhere else. */
const fetchInPlace: typeof globalThis.fetch = (input, init) => systemFetch(input, { ...init, redirect: "error" });

/** Returns the model, with its provider's package loaded; no other provider's is. */
export async function openModel({ provider, model, baseUrl, keyName }: ModelAddress): Promise<LanguageModel> {
  // Warnings of the SDK would go to standard output, which is the parent's.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  const apiKey = keyName === null ? undefined : process.env[keyName];
  const where = { ...(baseUrl !== null && { baseURL: baseUrl }), ...(apiKey !== undefined && { apiKey }) };
  const settings = { ...where, fetch: fetchInPlace };
  switch (provider) {
    case "anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic(settings)(model);
    case "openai":
      // Chat completions keep nothing at the provider, and are what stands behind most base addresses.
      return (await import("@ai-sdk/openai")).createOpenAI(settings).chat(model);
    case "google":
      return (await import("@ai-sdk/google")).createGoogle(settings)(model);
    case "openai-compatible": {
      if (baseUrl === null) throw new Error("an OpenAI-compatible model needs its address");
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({ ...settings, name: "model", baseURL: baseUrl })(model);
    }
  }
}
