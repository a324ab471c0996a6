/** A call, and the facts that a person decides by, as they stand in its sentence in every language. */
export interface SentenceCall {
  fn: string;
  kwargs: Readonly<Record<string, unknown>>;
  holds: readonly string[];
  lacks?: readonly string[];
}

const HASH = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab";
const patch = (...files: string[]) =>
  `*** Begin Patch\n${files.map((file) => `*** Update File: ${file}\n@@\n-a\n+b\n`).join("")}*** End Patch`;

export const SENTENCE_CALLS: readonly SentenceCall[] = [
  // Money
  {
    fn: "pay_invoice",
    kwargs: { amount: "1,234.50", currency: "USD", invoice: "INV-88", vendor: "Acme" },
    holds: ["INV-88", "1,234.50 USD", "Acme"],
  },
  {
    fn: "create_payout",
    kwargs: {
      payee: { iban: "CH9300762011623852957", name: "Bo Frei" },
      sum: { amount_cents: 50_000, currency: "CHF" },
    },
    holds: ["500.00 CHF", "Bo Frei", "CH93"],
  },
  {
    fn: "capture_payment",
    kwargs: { amount_usd: 99, payment_id: "pay_1", trace_id: HASH },
    holds: ["99 USD", "pay_1"],
    lacks: [HASH],
  },
  {
    fn: "charge_card",
    kwargs: { amount_minor: 12_345, capture: true, currency: "KWD", customer: "C-9" },
    holds: ["12.345 KWD", "C-9"],
  },
  {
    fn: "zahlung_senden",
    kwargs: { betrag: 75.25, empfaenger: "Stadtwerke", verwendungszweck: "Strom", waehrung: "EUR" },
    holds: ["75.25 EUR", "Stadtwerke"],
  },
  {
    fn: "effectuer_paiement",
    kwargs: { devise: "EUR", montant: "1 200,00", destinataire: "Café Lune" },
    holds: ["1 200,00 EUR", "Café Lune"],
  },
  {
    fn: "set_salary",
    kwargs: { currency: "EUR", employee: "Cy Tan", new_salary: 61_000, old_salary: 58_000 },
    holds: ["Cy Tan", "58000 → 61000 EUR"],
  },
  {
    fn: "raise_limit",
    kwargs: { account: "acc-7", currency: "GBP", limit: { from: 1000, to: 5000 } },
    holds: ["acc-7", "1000 → 5000"],
  },
  {
    fn: "approve_expense",
    kwargs: { amount: { currency: "EUR", value: "312.40" }, expense_id: "X-4", receipts: 2 },
    holds: ["312.40 EUR", "X-4"],
  },
  {
    fn: "place_order",
    kwargs: { currency: "USD", limit_price: "187.20", quantity: 500, side: "sell", symbol: "ACME" },
    holds: ["187.20 USD", "500", "ACME", "sell"],
  },
  {
    fn: "update_price",
    kwargs: { currency: "EUR", new_price: 11.9, old_price: 12.9, product: "MUG-2" },
    holds: ["MUG-2", "12.9 → 11.9 EUR"],
  },
  { fn: "donate", kwargs: { amount: -5, currency: "EUR", to: "Tierheim" }, holds: ["-5 EUR", "Tierheim"] },
  {
    fn: "issue_credit",
    kwargs: { credit: { amount: 10, currency: "SEK" }, customer_id: "K-2", expires_on: "2027-01-01" },
    holds: ["10 SEK", "K-2", "2027-01-01"],
  },
  {
    fn: "pay_batch",
    kwargs: {
      payments: [
        { amount: "10.10", currency: "EUR", to: "a" },
        { amount: "0.2", currency: "EUR", to: "b" },
      ],
    },
    holds: ["10.30 EUR", "2"],
  },
  // Mails and messages
  {
    fn: "send_mail",
    kwargs: { body: "Dear Bo\nhello", subject: "Offer 7", to: "bo@firm.example" },
    holds: ["bo@firm.example", "Offer 7"],
    lacks: ["Dear Bo", "↵"],
  },
  {
    fn: "email_senden",
    kwargs: { betreff: "Rechnung", empfaenger: ["a@x.example", "b@x.example"], text: "Guten Tag" },
    holds: ["a@x.example", "1", "Rechnung"],
    lacks: ["Guten Tag"],
  },
  {
    fn: "envoyer_courriel",
    kwargs: { corps: "Bonjour", destinataires: ["x@y.example"], objet: "Devis" },
    holds: ["x@y.example", "Devis"],
    lacks: ["Bonjour"],
  },
  {
    fn: "send_email",
    kwargs: { bcc: ["c@x.example", "d@x.example"], body: "x", cc: "b@x.example", subject: "Hi", to: "a@x.example" },
    holds: ["3", "Hi"],
  },
  {
    fn: "send_newsletter",
    kwargs: { body: "x", recipients_count: 9120, subject: "News", to: ["list:all"] },
    holds: ["list:all", "9120", "News"],
  },
  {
    fn: "send_mail",
    kwargs: { html: "x", subject: "Sale", to: [{ email: "a@x.example", name: "A" }, { email: "b@x.example" }] },
    holds: ["a@x.example", "1", "Sale"],
  },
  {
    fn: "send_email",
    kwargs: { body: "x", subject: "Sale", to: "segment-gold (1,200)" },
    holds: ["segment-gold (1,200)"],
  },
  { fn: "send_sms", kwargs: { text: "Your table is ready", to: "+49301234567" }, holds: ["+49301234567"] },
  { fn: "post_message", kwargs: { channel: "#general", text: "Lunch at noon" }, holds: ["#general", "Lunch at noon"] },
  // Access
  {
    fn: "invite_user",
    kwargs: { email: "di@shop.example", role: "admin", team: "billing" },
    holds: ["di@shop.example", "admin", "billing"],
  },
  { fn: "create_api_key", kwargs: { name: "ci", scopes: ["read", "write", "*"] }, holds: ["ci", "*", "2"] },
  { fn: "add_to_groups", kwargs: { groups: ["mail", "owners", "owner"], user: "eve" }, holds: ["eve", "owner", "2"] },
  {
    fn: "grant_permissions",
    kwargs: { permissions: ["orders:read", "orders:delete"], service_account: "etl" },
    holds: ["orders:delete", "etl"],
  },
  { fn: "remove_member", kwargs: { team: "core", user: "mallory" }, holds: ["mallory", "core"] },
  {
    fn: "change_role",
    kwargs: { new_role: "owner", old_role: "viewer", user: "eve" },
    holds: ["eve", "viewer → owner"],
  },
  // Servers
  {
    fn: "deploy",
    kwargs: { env: "prod", image: `sha256:${HASH}`, service: "cart", version: "2.4.0" },
    holds: ["cart", "2.4.0", "prod"],
    lacks: [HASH],
  },
  {
    fn: "resize_cluster",
    kwargs: { cluster: "eu-1", nodes: { from: 3, to: 0 }, timeout: 600 },
    holds: ["eu-1", "3 → 0"],
    lacks: ["600"],
  },
  {
    fn: "upgrade_database",
    kwargs: { database: "crm", env: "staging", from_version: "14", to_version: "16" },
    holds: ["crm", "14 → 16", "staging"],
  },
  {
    fn: "kubernetes_delete",
    kwargs: { force: true, grace_period_seconds: 0, kind: "Deployment", name: "web", namespace: "prod" },
    holds: ["web", "Deployment", "prod", "force"],
  },
  {
    fn: "delete_bucket",
    kwargs: { bucket: "backups-eu", region: "eu-1", skip_snapshot: true },
    holds: ["backups-eu", "snapshot"],
  },
  {
    fn: "delete_branch",
    kwargs: { branch: "release/2", force: true, repo: "shop" },
    holds: ["release/2", "shop", "force"],
  },
  {
    fn: "stop_instances",
    kwargs: { instance_ids: ["i-1", "i-2", "i-3"], region: "us-2" },
    holds: ["i-1", "2", "us-2"],
  },
  {
    fn: "delete_backups",
    kwargs: { backup: false, dry_run: false, older_than_days: 3, server: "db1" },
    holds: ["db1"],
  },
  {
    fn: "set_flag",
    kwargs: { enabled: false, environment: "prod", flag: "beta", percentage: 0 },
    holds: ["beta", "0%", "prod"],
  },
  {
    fn: "plan_apply",
    kwargs: { plan: { add: 0, destroy: 4, destroyed: ["disk.a", "disk.b"] }, workspace: "live" },
    holds: ["destroy 4", "disk.a", "live"],
    lacks: ["add 0"],
  },
  {
    fn: "delete_users",
    kwargs: { filter: { active: false, country: "AT" }, matched: 311 },
    holds: ["311", "country AT"],
  },
  {
    fn: "restart_server",
    kwargs: { graceful: true, server: "web-3", timeout_ms: 9000 },
    holds: ["web-3"],
    lacks: ["graceful", "9000"],
  },
  { fn: "unlock_door", kwargs: { door: "Main entrance", minutes: 5 }, holds: ["Main entrance"] },
  {
    fn: "update_dns",
    kwargs: { new_value: "192.0.2.9", old_value: "192.0.2.1", record: "api", zone: "shop.example" },
    holds: ["api", "192.0.2.1 → 192.0.2.9", "shop.example"],
  },
  { fn: "delete_object", kwargs: { source: { id: 4 }, target: { id: 9 } }, holds: ["4", "9"] },
  // SQL
  { fn: "run_sql", kwargs: { database: "shop", sql: "delete from carts" }, holds: ["delete from carts", "shop"] },
  {
    fn: "execute_query",
    kwargs: { query: "SELECT 1; DROP TABLE users; SELECT 2", database: "x" },
    holds: ["Run", "DROP TABLE users", "SELECT 1"].slice(1),
  },
  { fn: "mcp__pg__query", kwargs: { sql: "UPDATE t SET a = 'x; where y' -- where" }, holds: ["UPDATE t", "pg"] },
  { fn: "sql", kwargs: { statement: "UPDATE t SET a = 1 WHERE id = 2" }, holds: ["WHERE id = 2"] },
  // Coding agents
  {
    fn: "Bash",
    kwargs: { command: "git status", cwd: "/srv/app/x", timeout: 1000 },
    holds: ["`git status`"],
    lacks: ["1000"],
  },
  {
    fn: "shell",
    kwargs: { command: ["/bin/zsh", "-lc", "ls && rm a"], timeout_ms: 10 },
    holds: ["`ls && rm a`"],
    lacks: ["zsh"],
  },
  { fn: "shell", kwargs: { command: ["git", "commit", "-m", "a b"] }, holds: ["`git commit -m 'a b'`"] },
  { fn: "exec_command", kwargs: { cmd: "make", workdir: "/srv/app/lib" }, holds: ["`make`", "/srv/app/lib"] },
  { fn: "apply_patch", kwargs: { input: patch("a.ts", "b/c.ts") }, holds: ["a.ts", "b/c.ts", "+2 −2"] },
  { fn: "shell", kwargs: { command: ["apply_patch", patch("d.ts")] }, holds: ["d.ts", "+1 −1"] },
  {
    fn: "str_replace_editor",
    kwargs: { command: "str_replace", new_str: "b\nc", old_str: "a", path: "src/x.py" },
    holds: ["src/x.py", "+2 −1"],
  },
  {
    fn: "MultiEdit",
    kwargs: {
      edits: [
        { new_string: "b", old_string: "a" },
        { new_string: "", old_string: "x\ny" },
      ],
      file_path: "/w/p/z.go",
      cwd: "/w/p",
    },
    holds: ["z.go", "+1 −3"],
  },
  {
    fn: "Write",
    kwargs: { content: "secret words\n", cwd: "/w/p", file_path: "/w/q/z.go" },
    holds: ["/w/q/z.go", "1"],
    lacks: ["secret words"],
  },
  {
    fn: "Read",
    kwargs: { cwd: "/w/p", file_path: "/w/p/src/z.go", limit: 40, offset: 3 },
    holds: ["src/z.go"],
    lacks: ["/w/p", "40"],
  },
  {
    fn: "Grep",
    kwargs: { cwd: "/w/p", output_mode: "content", path: "/w/p/src", pattern: "total" },
    holds: ["total", "src"],
    lacks: ["content"],
  },
  {
    fn: "WebFetch",
    kwargs: { prompt: "What?", url: "https://good.example@evil.example/x" },
    holds: ["evil.example"],
    lacks: ["good"],
  },
  {
    fn: "http_request",
    kwargs: { method: "DELETE", url: "https://api.shop.example/v1/users/5" },
    holds: ["DELETE", "api.shop.example/v1/users/5"],
  },
  { fn: "mcp__git__push", kwargs: { branch: "main", force: true, remote: "origin" }, holds: ["main", "force", "git"] },
  {
    fn: "mcp__fs__move_file",
    kwargs: { destination: "/b/x.txt", source: "/a/x.txt" },
    holds: ["/b/x.txt", "/a/x.txt", "fs"],
  },
  // A word beside an amount says its unit or its currency.
  {
    fn: "create_payout",
    kwargs: { amount: { currency: "EUR", unit: "minor", value: 99_900 }, recipient: { iban: "DE89", name: "Jo" } },
    holds: ["999.00 EUR", "Jo", "DE89"],
    lacks: ["minor", "99900"],
  },
  { fn: "approve_loan", kwargs: { currency: "EUR", principal: 250_000, term_months: 240 }, holds: ["250000 EUR"] },
  { fn: "accept", kwargs: { bid_price: { unit: "CHF", value: 70 }, lot: "L-4" }, holds: ["70 CHF", "L-4"] },
  { fn: "take", kwargs: { currency: "EUR", guests: 3, offer: 420 }, holds: ["offer 420", "guests 3"] },
  { fn: "place_offer", kwargs: { currency: "EUR", offer: 420, quantity: 3 }, holds: ["420 EUR", "quantity 3"] },
  { fn: "send_coins", kwargs: { amount: "0.5", asset: "BTC", address: "bc1q" }, holds: ["0.5 BTC", "bc1q"] },
  { fn: "set_price", kwargs: { price: "€12.90", product: "Mug" }, holds: ["€12.90", "Mug"], lacks: ["price price"] },
  { fn: "stripe.refunds.create", kwargs: { charge: "ch_1" }, holds: ["refunds", "ch_1", "stripe"] },
  // Every change has its name.
  {
    fn: "update_customer",
    kwargs: {
      changes: { credit_limit: { from: 1000, to: 50_000 }, email: { from: "a@x.org", to: "b@x.org" } },
      id: "C-9",
    },
    holds: ["C-9", "email a@x.org → b@x.org", "credit limit 1000 → 50000"],
  },
  { fn: "roll_back", kwargs: { deployment: "api", to_revision: 12 }, holds: ["api", "revision 12"] },
  { fn: "set_policy", kwargs: { mfa_required: false, min_length: 4 }, holds: ["mfa required", "min length 4"] },
  // The words of a program stand in an argument of their own.
  { fn: "kubectl", kwargs: { args: ["delete", "ns", "shop"] }, holds: ["`kubectl delete ns shop`"] },
  { fn: "run", kwargs: { args: ["push", "--force"], command: "git" }, holds: ["`git push --force`"] },
  {
    fn: "apply_patch",
    kwargs: { input: "*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** Delete File: b.ts\n*** End Patch\n" },
    holds: ["a.ts", "b.ts", "+1 −1"],
  },
  // An empty filter chooses everything.
  { fn: "delete_documents", kwargs: { collection: "users", filter: {} }, holds: ["users", "filter"] },
  { fn: "purge_cache", kwargs: { everything: true, zone: "acme.org" }, holds: ["acme.org", "everything"] },
  { fn: "rotate_key", kwargs: { key: "ci", revoke_old: true }, holds: ["ci", "revoke old"] },
  // When, and for how long.
  { fn: "ban_user", kwargs: { duration: "30d", username: "eve" }, holds: ["eve", "30d"] },
  {
    fn: "book_room",
    kwargs: { date: "2027-01-05", from: "09:00", room: "Aula", to: "12:00" },
    holds: ["Aula", "09:00", "12:00", "2027-01-05"],
  },
  {
    fn: "get_user",
    kwargs: { created_at: "2020-01-01", timeout_ms: 500, user_id: 4711 },
    holds: ["4711"],
    lacks: ["2020", "500"],
  },
  { fn: "send_sms", kwargs: { message: "Your tea is here", to: "+49171" }, holds: ["+49171", "Your tea is here"] },
  { fn: "open_page", kwargs: { url: "https://bank.example/pay?amount=5000" }, holds: ["bank.example/pay?amount=5000"] },
];
