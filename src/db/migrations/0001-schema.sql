-- The schema of Purser's database: the only source of its tables. Migration 0001 runs this file, and
-- `npm run generate:schema` writes the row types (schema.generated.ts) from it. Before the first
-- release it is changed in place; afterwards a change is a migration of its own (docs/contribute/changing.md).
--
-- Wei, token units and uint256 values are numeric(78, 0). Hashes and addresses are text in lower
-- case. Secrets are bytea, hashed or encrypted before they come here. Times of the chain are Unix
-- seconds (bigint), times of ours timestamptz.

-- ---------------------------------------------------------------------------------------------
-- Service: what processes share
-- ---------------------------------------------------------------------------------------------

-- The right of one process to do a thing alone. `token` grows with each holder.
create table leases (
  name text primary key,
  holder text not null,
  token bigint not null,
  expires_at timestamptz not null
);

-- One row: a known text, encrypted with the master key of this database. Any other key is refused.
create table master_key (
  one boolean primary key default true check (one),
  check_value bytea not null,
  since timestamptz not null default now()
);

-- ---------------------------------------------------------------------------------------------
-- Tenants: accounts, apps, keys
-- ---------------------------------------------------------------------------------------------

create table accounts (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);

create table auth_tokens (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references accounts,
  name text not null,
  hash bytea not null unique,
  last4 text, -- null: of an account's first token
  role text not null check (role in ('viewer', 'developer', 'admin')),
  -- The account's `authToken`, which the operator can replace.
  is_first boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz, -- null: never
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index auth_tokens_account on auth_tokens (account_id);

create table apps (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references accounts,
  name text not null,
  -- AppSponsor: the name and icon by which wallets show who pays (ERC-7677). null: the app names nobody.
  sponsor jsonb,
  quotas jsonb, -- Quotas; null: no limit
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index on apps (account_id);
create index apps_revoked on apps (revoked_at) where revoked_at is not null;

-- ContractItem[]: functions and errors of contracts, by which the operations of an app are described.
create table app_abis (
  app_id uuid primary key references apps on delete cascade,
  items jsonb not null
);

create table keys (
  id uuid primary key default gen_random_uuid(),
  app_id uuid not null references apps,
  name text not null,
  hash bytea not null unique,
  last4 text not null,
  scopes text[] not null default '{bundler,paymaster}',
  methods text[], -- null: every method of the scopes
  allowed_origins text[], -- null: any
  allowed_ips text[], -- addresses and CIDR ranges; null: any
  quotas jsonb, -- Quotas; null: no limit
  -- The key that this one replaces.
  rotated_from uuid references keys on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz -- to the minute; null: never
);
create index on keys (app_id);
create index keys_revoked on keys (revoked_at) where revoked_at is not null;
create index keys_expired on keys (expires_at) where expires_at is not null;
create index keys_rotated on keys (rotated_from) where rotated_from is not null;

-- The requests that a key or an app made in its newest second, minute or day, over all processes.
create table quota_windows (
  subject uuid not null, -- a key or an app
  seconds integer not null,
  begins bigint not null, -- Unix seconds of the database's clock
  taken bigint not null, -- granted in the window to all processes
  granted bigint not null, -- granted with the last question
  primary key (subject, seconds)
);

create table key_usage (
  key_id uuid not null references keys on delete cascade,
  day date not null,
  requests bigint not null,
  refused bigint not null,
  primary key (key_id, day)
);

-- Append-only. `hash` is SHA-256 over the hash of the entry before and this entry.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  -- The operator, an account's first token, a command of the operator, a named token, or a user.
  actor text not null check (actor in ('operator', 'account', 'command', 'token', 'user')),
  actor_id text, -- the start of the token's hash, or the system user; never the token itself
  ip text,
  request_id text,
  action text not null,
  object_id text not null,
  account_id uuid,
  app_id uuid,
  before jsonb,
  after jsonb,
  hash bytea not null
);
create index on audit_log (account_id, id);
create index audit_log_object on audit_log (object_id, id);
create index audit_log_recent on audit_log (account_id, at);

create function refuse_change() returns trigger language plpgsql as $$
  begin raise exception 'the audit log is append-only'; end $$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- ---------------------------------------------------------------------------------------------
-- People: users, their accounts and sessions
-- ---------------------------------------------------------------------------------------------

create table users (
  id uuid primary key default gen_random_uuid(),
  email text not null unique check (email = lower(email)),
  name text not null,
  password_hash text, -- scrypt in PHC form; null: none was chosen yet
  -- May do all that the operator's token may, and enter any account.
  is_operator boolean not null default false,
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);

-- The users of identity providers. A subject stays when the e-mail address of its person changes.
create table user_identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users,
  created_at timestamptz not null default now(),
  primary key (issuer, subject),
  unique (issuer, user_id)
);

create table members (
  account_id uuid not null references accounts,
  user_id uuid not null references users,
  role text not null check (role in ('viewer', 'developer', 'admin')),
  created_at timestamptz not null default now(),
  primary key (account_id, user_id)
);
create index members_user on members (user_id);

create table sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users,
  token_hash bytea not null unique,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(), -- the last request, to the minute
  expires_at timestamptz not null,
  ended_at timestamptz,
  ip text,
  agent text -- the header User-Agent
);
create index sessions_user on sessions (user_id, created_at);
create index sessions_end on sessions (expires_at);

create table invitations (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique,
  email text not null check (email = lower(email)),
  account_id uuid references accounts, -- null: a user is to choose a password
  role text check (role in ('viewer', 'developer', 'admin')),
  invited_by uuid references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((account_id is null) = (role is null))
);
create index invitations_account on invitations (account_id);
create index invitations_email on invitations (email);

-- Links to the page of one operation, for readers without an account.
create table shares (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique,
  account_id uuid not null references accounts,
  app_id uuid not null references apps,
  chain_id bigint not null,
  user_op_hash text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index shares_account on shares (account_id);
create index shares_app on shares (app_id);
create index shares_end on shares (expires_at);

create table sign_in_attempts (
  subject bytea primary key, -- SHA-256 of an e-mail address, or of one and the network of the caller
  failures integer not null,
  failed_at timestamptz not null,
  locked_until timestamptz,
  trusted_until timestamptz -- the user signed in from this network
);
create index sign_in_attempts_failed on sign_in_attempts (failed_at);

-- ---------------------------------------------------------------------------------------------
-- Paymaster: tanks, funding, policies
-- ---------------------------------------------------------------------------------------------

-- `gas` tanks pay for operations as a gift, `token` tanks take tokens for it.
create table tanks (
  id uuid primary key default gen_random_uuid(),
  app_id uuid references apps, -- null: the operator's, shared by apps with credit
  chain_id bigint not null,
  entry_point text not null,
  kind text not null check (kind in ('gas', 'token')),
  address text not null,
  owner text not null,
  signer text not null,
  signer_key bytea not null,
  created_at timestamptz not null default now(),
  unique (app_id, chain_id, entry_point, kind)
);
create unique index tanks_shared on tanks (chain_id, entry_point, kind) where app_id is null;
create index tanks_address on tanks (chain_id, entry_point, address);

-- What an app pays with on a chain: its own tank, or prepaid credit for the operator's shared tank
-- or for operations without any paymaster.
create table funds (
  id uuid primary key default gen_random_uuid(),
  app_id uuid not null references apps,
  chain_id bigint not null,
  mode text not null check (mode in ('tank', 'shared', 'native')),
  -- All credits that were ever added; what is taken from them is counted by the ledger.
  credited numeric(78, 0) not null default 0,
  -- The alert goes off below this many wei, or this many days at the present rate. 0: never.
  alert_wei numeric(78, 0) not null default 0,
  alert_days integer not null default 3,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (app_id, chain_id)
);

-- Wei added to a fund, or taken from it when negative.
create table credits (
  id bigint generated always as identity primary key,
  fund_id uuid not null references funds,
  amount numeric(78, 0) not null check (amount <> 0),
  reference text not null,
  created_at timestamptz not null default now(),
  unique (fund_id, reference)
);

-- The alerts that are on: a tank, or the credit of a fund, runs low.
create table alerts (
  holder uuid primary key, -- id of the tank or fund
  since timestamptz not null default now()
);

-- Operations with zero fees and no paymaster that we pay for.
create table grants (
  chain_id bigint not null,
  user_op_hash text not null,
  app_id uuid not null references apps,
  -- wei per gas: what a bundle with it may cost at most
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  valid_until bigint not null,
  created_at timestamptz not null default now(),
  -- several apps may be asked to pay for one operation; each may send it
  primary key (chain_id, user_op_hash, app_id)
);
create index grants_end on grants (valid_until);

create table policies (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references accounts,
  app_id uuid references apps, -- null: binds all apps of the account
  name text not null,
  position integer not null,
  active boolean not null,
  terms jsonb not null, -- the policy module's schema
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on policies (account_id, app_id);

-- ---------------------------------------------------------------------------------------------
-- Paymaster: the ledger of what sponsorships reserve and cost
-- ---------------------------------------------------------------------------------------------

-- An amount reserved for all sponsorships of one sender's nonce by one app, of which one can be
-- included. `open`: can still be included; `included`, `expired`: ended by `block_number`, which a
-- reorganisation can undo; `settled`, `released`: ended for good.
create table reservations (
  id bigint generated always as identity primary key,
  app_id uuid not null references apps,
  chain_id bigint not null,
  entry_point text not null,
  sender text not null,
  nonce numeric(78, 0) not null,
  paymaster text not null, -- the zero address when no paymaster pays
  max_cost numeric(78, 0) not null, -- wei, the largest of its sponsorships
  valid_until bigint not null, -- the latest of its sponsorships
  state text not null check (state in ('open', 'included', 'expired', 'settled', 'released')),
  block_number bigint, -- the block in which it ended; null while open
  user_op_hash text, -- the operation that took the nonce
  -- wei; 0 when an operation took the nonce that none of our sponsorships is of
  actual_cost numeric(78, 0) not null default 0,
  -- wei that were charged beyond the operation's share of its bundle, and are no part of actual_cost
  rebate numeric(78, 0) not null default 0,
  -- wei of actual_cost for gas that limits left unused; null where that is not known
  wasted numeric(78, 0),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index reservations_slot
  on reservations (chain_id, entry_point, sender, nonce, app_id, paymaster)
  where state in ('open', 'included', 'expired');
create index reservations_paymaster on reservations (chain_id, entry_point, paymaster, valid_until)
  include (max_cost, block_number) where state in ('open', 'included', 'expired');
create index reservations_included on reservations (chain_id, entry_point, paymaster, block_number)
  where state = 'included';
create index reservations_open on reservations (chain_id, valid_until) where state = 'open';
create index reservations_ended on reservations (chain_id, block_number)
  where state in ('included', 'expired');
-- What sponsorships cost recently is read for every tank and credit, to say how long they last.
create index reservations_recent on reservations (chain_id, app_id, created_at)
  where state in ('included', 'settled');

-- The amount that the live reservations of a payer lock of its deposit, at one block.
create table payers (
  chain_id bigint not null,
  entry_point text not null,
  paymaster text not null,
  -- wei, of the reservations that could still be charged to the deposit as it was at that block
  locked numeric not null,
  block_number bigint not null,
  timestamp bigint not null, -- of the block
  primary key (chain_id, entry_point, paymaster)
);

-- Answers to requests for sponsorship. `policy_id` is the policy that sponsored or refused.
create table decisions (
  id uuid primary key,
  app_id uuid not null references apps,
  chain_id bigint not null,
  entry_point text not null,
  sender text not null,
  nonce numeric(78, 0) not null,
  user_op_hash text,
  sponsored boolean not null,
  code text not null,
  message text not null,
  max_cost numeric(78, 0) not null,
  valid_after bigint not null,
  valid_until bigint not null,
  policy_id uuid,
  details jsonb not null default '{}', -- the numbers behind the decision, for people
  native_price numeric(78, 0), -- millionths of a USD per 10^18 wei, when it was made; null = unknown
  reservation_id bigint references reservations,
  created_at timestamptz not null default now()
);
create index on decisions (app_id, created_at);
create index on decisions (chain_id, user_op_hash);
create index on decisions (reservation_id);
create index on decisions (created_at, id);
create index decisions_refused on decisions (app_id, created_at, id) where not sponsored;

-- The amount that one sponsorship takes from one budget, in the budget's unit (usd: millionths).
create table charges (
  decision_id uuid not null references decisions,
  reservation_id bigint not null references reservations,
  policy_id uuid not null,
  budget text not null,
  subject text not null,
  bucket bigint not null,
  unit text not null check (unit in ('wei', 'usd', 'count')),
  amount numeric(78, 0) not null,
  price numeric(78, 0), -- millionths of a USD per 10^18 wei; null unless the unit is usd
  settled numeric(78, 0) not null default 0, -- the actual cost of an included sponsorship
  primary key (decision_id, policy_id, budget, subject, bucket)
);
create index on charges (reservation_id);

-- The sums of `charges`, with which budgets are compared.
create table budget_counters (
  policy_id uuid not null,
  budget text not null,
  subject text not null,
  bucket bigint not null, -- Unix seconds at which it begins
  -- Sum over reservations: the largest charge of each until it is final, then its actual cost.
  used numeric(78, 0) not null,
  settled numeric(78, 0) not null,
  primary key (policy_id, budget, subject, bucket)
);
-- Buckets that begin at 0 never end.
create index budget_counters_bucket on budget_counters (bucket) where bucket > 0;

-- What an app spent in a range of time, as it was signed.
create table statements (
  id uuid primary key default gen_random_uuid(),
  app_id uuid not null references apps,
  from_time timestamptz not null,
  until_time timestamptz not null,
  content text not null, -- JSON, whose bytes are signed
  signature bytea not null, -- Ed25519
  public_key bytea not null,
  created_at timestamptz not null default now()
);
create index statements_app on statements (app_id, created_at);

-- The quote of a decision to take tokens.
create table token_quotes (
  decision_id uuid primary key references decisions on delete cascade,
  chain_id bigint not null,
  token text not null,
  mode text not null check (mode in ('prefund', 'afterwards', 'permit')),
  rate numeric(78, 0) not null, -- smallest token units per 10^18 wei
  markup integer not null, -- millionths of the cost
  max_charge numeric(78, 0) not null -- smallest token units that the tank may take
);
create index on token_quotes (chain_id, token);

-- The payment that a tank took for an included operation, by the chain.
create table token_payments (
  chain_id bigint not null,
  user_op_hash text not null,
  app_id uuid not null references apps,
  tank text not null,
  sender text not null,
  token text not null,
  charged numeric(78, 0) not null, -- smallest token units; 0 when the payment was missed
  cost numeric(78, 0) not null, -- wei that the tank counted for it
  missed boolean not null, -- the tank paid and got nothing
  block_number bigint not null,
  booked_at timestamptz not null default now(),
  primary key (chain_id, user_op_hash)
);
create index on token_payments (chain_id, token, tank);
create index on token_payments (app_id);
create index on token_payments (chain_id, block_number); -- reorgs
create index token_payments_missed on token_payments (chain_id, sender, booked_at) where missed;

-- ---------------------------------------------------------------------------------------------
-- Webhooks: approval calls, and events with their deliveries
-- ---------------------------------------------------------------------------------------------

create table webhooks (
  id uuid primary key default gen_random_uuid(),
  app_id uuid not null references apps,
  url text not null,
  request_type text not null check (request_type in ('GET', 'POST')),
  active boolean not null default true,
  payload text not null default 'plain' check (payload in ('plain', 'extended')),
  on_failure text not null default 'deny' check (on_failure in ('deny', 'approve')),
  deadline_ms integer not null default 2000 check (deadline_ms between 250 and 5000),
  secret bytea not null,
  -- Signs too until `previous_secret_until`, so that receivers can change over.
  previous_secret bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on webhooks (app_id);

create table webhook_calls (
  id bigint generated always as identity primary key,
  decision_id uuid not null references decisions,
  webhook_id uuid not null,
  app_id uuid not null references apps,
  outcome text not null,
  http_status integer,
  reason text,
  attempts integer not null,
  duration_ms double precision not null,
  started_at timestamptz not null
);
create index on webhook_calls (app_id, started_at);
create index on webhook_calls (decision_id);
create index on webhook_calls (webhook_id, id);

-- The changes of a webhook's circuit breaker, each as one process saw it.
create table webhook_circuits (
  id bigint generated always as identity primary key,
  webhook_id uuid not null references webhooks on delete cascade,
  at timestamptz not null default now(),
  state text not null check (state in ('open', 'closed'))
);
create index webhook_circuits_webhook on webhook_circuits (webhook_id, id);
create index webhook_circuits_at on webhook_circuits (at);

create table event_subscriptions (
  id uuid primary key default gen_random_uuid(),
  app_id uuid not null references apps,
  url text not null,
  event_types text[] not null,
  active boolean not null default true,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  failing_since timestamptz,
  disabled_reason text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on event_subscriptions (app_id);

create table events (
  id uuid primary key default gen_random_uuid(),
  app_id uuid not null references apps,
  type text not null,
  occurred_at timestamptz not null default now(),
  data jsonb not null
);
create index on events (occurred_at);

create table event_deliveries (
  id bigint generated always as identity primary key,
  event_id uuid not null references events on delete cascade,
  subscription_id uuid not null references event_subscriptions on delete cascade,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  outcome text,
  http_status integer,
  reason text,
  -- RecentAttempt[], the oldest first; the writer keeps their number small.
  recent_attempts jsonb not null default '[]',
  updated_at timestamptz not null default now(),
  unique (event_id, subscription_id)
);
create index event_deliveries_due on event_deliveries (next_attempt_at) where state = 'pending';
create index on event_deliveries (subscription_id, id);

-- ---------------------------------------------------------------------------------------------
-- Bundler: the outbox and the sizes of bundles
-- ---------------------------------------------------------------------------------------------

-- Every nonce that we use as executor or treasury: the row is written before anything is sent.
-- `filler`: a transaction that closes a gap of nonces; `refill`: wei for an executor.
create table bundles (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  kind text not null check (kind in ('operations', 'filler', 'refill', 'return')),
  entry_point text, -- null unless the kind is operations
  executor text not null,
  nonce bigint not null,
  operations text[] not null default '{}', -- the hashes of those that were signed with it
  operation_count integer not null generated always as (cardinality(operations)) stored,
  state text not null
    check (state in ('signed', 'included', 'reverted', 'abandoned', 'cancelled')),
  transaction_hash text,
  -- wei that the mined transaction cost its sender: gas, and what the chain took for data
  cost numeric(78, 0),
  recipient text, -- the tank or executor that gets the value; null: there is none
  value numeric(78, 0) not null default 0, -- wei
  relayed_from bigint, -- the block at which it was given to a relay alone; null: it is public
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index bundles_open on bundles (chain_id, executor, nonce) where state = 'signed';
create index bundles_of_chain on bundles (chain_id, id);

-- The transactions that were signed for a bundle: the first one and its replacements.
create table bundle_transactions (
  chain_id bigint not null,
  hash text not null,
  bundle_id bigint not null references bundles,
  raw text not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  max_cost numeric(78, 0) not null, -- wei: gas limit times fee, and value
  noop boolean not null default false, -- uses the nonce up and does nothing
  created_at timestamptz not null default now(),
  primary key (chain_id, hash)
);
create index on bundle_transactions (bundle_id);

-- wei that a bundle of ours charged an app's own tank beyond its share of the bundle's fixed costs.
create table surpluses (
  chain_id bigint not null,
  transaction_hash text not null, -- of the bundle
  entry_point text not null,
  tank text not null,
  block_number bigint not null,
  amount numeric(78, 0) not null,
  bundle_id bigint references bundles on delete cascade, -- the transaction that returns it; null: none yet
  primary key (chain_id, transaction_hash, tank)
);
create index surpluses_owed on surpluses (chain_id, block_number) where bundle_id is null;
create index surpluses_bundle on surpluses (bundle_id) where bundle_id is not null;

-- The sizes of bundles that estimates assumed recently, for all processes: `size` from `decided_at` on.
create table bundle_sizes (
  chain_id bigint not null,
  entry_point text not null,
  decided_at timestamptz not null default clock_timestamp(),
  size smallint not null check (size between 1 and 100),
  primary key (chain_id, entry_point, decided_at)
);

-- The last blocks that we followed: a restart knows where it stood and sees a reorganisation.
create table chain_blocks (
  chain_id bigint not null,
  number bigint not null,
  hash text not null,
  primary key (chain_id, number)
);

-- ---------------------------------------------------------------------------------------------
-- Mempool: operations, and what limits them
-- ---------------------------------------------------------------------------------------------

create table operations (
  chain_id bigint not null,
  hash text not null,
  entry_point text not null,
  app_id uuid not null references apps,
  key_id uuid, -- the key that sent it; null where none did
  sender text not null,
  nonce numeric(78, 0) not null,
  factory text, -- null where the sender existed before
  paymaster text,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  -- wei per gas: the highest price that is sure to be paid, by which bundles choose
  assured_price numeric(78, 0) not null,
  -- wei: EntryPoint.requiredPrefund, what the payer must cover while the operation is pending
  prefund numeric(78, 0) not null,
  -- Gas that EntryPoint v0.6 may charge; null where it does not matter or was never computed.
  most_charged numeric,
  -- The number of operations that its preVerificationGas shares a bundle with, itself included.
  shared_by smallint not null default 1,
  valid_until bigint not null, -- 0: no end
  valid_until_block bigint not null default 0, -- the last block in which it is valid; 0: no end
  operation jsonb not null,
  counted text[] not null default '{}', -- the entities whose opsSeen counts this operation
  seen_block bigint not null default 0, -- the head when it was taken into the pool
  first_validation jsonb, -- FirstValidation; null where only the result was known
  received_at timestamptz not null default now(),
  -- The columns that transitions change are the last ones, and pages have space for the next version of a row: the
  -- log then holds only what changed.
  state text not null
    check (state in ('pooled', 'bundled', 'included', 'dropped', 'replaced')),
  reason_code text, -- DropCode
  reason text,
  -- The failed bundles with this operation. It is bundled alone after the first.
  attempts integer not null default 0,
  -- The bundle that it is in, which lists it in `operations`; one that was dropped keeps the bundle that failed for it. No
  -- foreign key: it would lock the bundle for each operation, and a bundle stays as long as operations name it
  -- (`startRetention`).
  bundle_id bigint,
  cancel_requested_at timestamptz,
  updated_at timestamptz not null default now(),
  -- Indexes name the two columns below and never `state`, `bundle_id` or `updated_at`: a claim and an inclusion change
  -- none of them, so they write to no index (heap-only updates).
  -- When it was dropped or replaced.
  ended_badly_at timestamptz
    generated always as (case when state in ('dropped', 'replaced') then updated_at end) stored,
  -- When it was dropped because a bundle with it failed on the chain.
  failed_at timestamptz
    generated always as (case when state = 'dropped' and bundle_id is not null then updated_at end) stored,
  primary key (chain_id, hash)
) with (fillfactor = 50);
-- Operations that were just dropped may still be included.
create index operations_dropped on operations (chain_id, ended_badly_at)
  where ended_badly_at is not null;
-- Senders and apps are judged by their operations that made a bundle fail on the chain.
create index operations_failed_sender on operations (chain_id, sender, failed_at)
  where failed_at is not null;
create index operations_failed_app on operations (chain_id, app_id, failed_at)
  where failed_at is not null;
-- Lists. An operation that is pooled, bundled and included costs the two partial ones nothing.
create index operations_app_received on operations (app_id, received_at);
create index operations_ended_badly on operations (app_id, received_at, hash)
  where ended_badly_at is not null;
create index operations_ended_badly_sender on operations (sender, chain_id, hash)
  where ended_badly_at is not null;

-- The pool: a narrow copy of each operation that is pooled or bundled. Triggers on `operations` keep it. An operation that
-- ends leaves dead entries in its indexes, and each choice of candidates reads over them until a vacuum. This table
-- stays small however long the history is, so each look of autovacuum takes it.
create table live_operations (
  chain_id bigint not null,
  entry_point text not null,
  sender text not null,
  nonce numeric(78, 0) not null,
  hash text not null,
  app_id uuid not null,
  factory text,
  paymaster text,
  delegates boolean not null, -- carries an authorization (EIP-7702)
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  assured_price numeric(78, 0) not null,
  prefund numeric(78, 0) not null,
  valid_until bigint not null,
  valid_until_block bigint not null,
  received_at timestamptz not null,
  -- These change while it is live, and no index names them.
  attempts integer not null,
  state text not null check (state in ('pooled', 'bundled')),
  primary key (chain_id, entry_point, sender, nonce)
) with (fillfactor = 45);
-- Bundles choose inside these two indexes: one ranks the operations that pay their whole tip at a
-- base fee, the other those that pay less of it, and neither reads those that pay too little. The
-- cheapest operations of a full pool are at their ends.
-- `assured_price >= 0` holds for every row, as do the last conditions of the indexes on age and app: an index fits only
-- a statement that repeats its condition. While the table has no statistics the planner takes any index that fits, and
-- would read a whole one for each sender.
create index live_operations_by_tip on live_operations
  (chain_id, entry_point, max_priority_fee_per_gas desc, received_at,
    (assured_price - max_priority_fee_per_gas))
  where assured_price >= 0;
create index live_operations_by_price on live_operations
  (chain_id, entry_point, assured_price desc, received_at,
    (assured_price - max_priority_fee_per_gas))
  where assured_price >= 0;
create index live_operations_paymaster on live_operations (chain_id, entry_point, paymaster)
  where paymaster is not null;
-- Authorizations (EIP-7702) of an account, over all EntryPoints.
create index live_operations_delegating on live_operations (chain_id, sender) where delegates;
create index live_operations_factory on live_operations (chain_id, entry_point, factory)
  where factory is not null;
create index live_operations_app on live_operations (app_id, chain_id)
  where app_id > '00000000-0000-0000-0000-000000000000';
-- Those that end by time, by block, by age.
create index live_operations_expiry on live_operations (chain_id, valid_until)
  where valid_until > 0;
create index live_operations_last_block on live_operations (chain_id, valid_until_block)
  where valid_until_block > 0;
create index live_operations_age on live_operations (chain_id, received_at)
  where received_at > '-infinity';

create function keep_live_operation() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'INSERT' and old.state in ('pooled', 'bundled') then
      if tg_op = 'UPDATE' and new.state in ('pooled', 'bundled') then
        update live_operations set app_id = new.app_id, factory = new.factory,
          paymaster = new.paymaster, delegates = new.operation ? 'authorization',
          max_fee_per_gas = new.max_fee_per_gas,
          max_priority_fee_per_gas = new.max_priority_fee_per_gas,
          assured_price = new.assured_price, prefund = new.prefund, valid_until = new.valid_until,
          valid_until_block = new.valid_until_block, received_at = new.received_at,
          attempts = new.attempts, state = new.state
        where chain_id = old.chain_id and entry_point = old.entry_point and sender = old.sender
          and nonce = old.nonce;
      else
        delete from live_operations
        where chain_id = old.chain_id and entry_point = old.entry_point and sender = old.sender
          and nonce = old.nonce;
      end if;
    else
      insert into live_operations (chain_id, entry_point, sender, nonce, hash, app_id, factory,
        paymaster, delegates, max_fee_per_gas, max_priority_fee_per_gas, assured_price, prefund,
        valid_until, valid_until_block, received_at, attempts, state)
      values (new.chain_id, new.entry_point, new.sender, new.nonce, new.hash, new.app_id,
        new.factory, new.paymaster, new.operation ? 'authorization', new.max_fee_per_gas,
        new.max_priority_fee_per_gas, new.assured_price, new.prefund, new.valid_until,
        new.valid_until_block, new.received_at, new.attempts, new.state);
    end if;
    return null;
  end $$;
create trigger operation_pooled after insert on operations for each row
  when (new.state in ('pooled', 'bundled')) execute function keep_live_operation();
create trigger operation_moved after update on operations for each row
  when (old.state in ('pooled', 'bundled') or new.state in ('pooled', 'bundled'))
  execute function keep_live_operation();
create trigger operation_deleted after delete on operations for each row
  when (old.state in ('pooled', 'bundled')) execute function keep_live_operation();

-- Upper bounds of counts of live operations, and of the wei that they may cost their paymaster:
-- never less than what the live operations of a scope add up to.
create table pool_bounds (
  chain_id bigint not null,
  scope text not null,
  bound numeric(78, 0), -- null: must be counted
  primary key (chain_id, scope)
);

-- Counters of one entity at one EntryPoint (ERC-7562), decayed up to `hour` (hours since 1970).
create table reputations (
  chain_id bigint not null,
  entry_point text not null,
  address text not null,
  ops_seen bigint not null,
  ops_included bigint not null,
  hour bigint not null default floor(extract(epoch from now()) / 3600),
  primary key (chain_id, entry_point, address)
);

-- ---------------------------------------------------------------------------------------------
-- Records: inclusions, receipts, histories, refused requests
-- ---------------------------------------------------------------------------------------------

create table inclusions (
  chain_id bigint not null,
  user_op_hash text not null,
  entry_point text not null,
  sender text not null,
  nonce numeric(78, 0) not null,
  paymaster text not null,
  success boolean not null,
  actual_gas_cost numeric(78, 0) not null,
  actual_gas_used numeric(78, 0) not null,
  reason text not null,
  transaction_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  block_time timestamptz not null,
  -- Its logs, the last of which is its event, are these of the transaction's receipt.
  first_log integer not null,
  log_index integer not null,
  uncovered_at timestamptz, -- when a bundle of ours was found to have lost wei because of it
  primary key (chain_id, user_op_hash)
);
create index on inclusions (chain_id, block_number);
create index inclusions_uncovered on inclusions (chain_id, uncovered_at) where uncovered_at is not null;
create index on inclusions (chain_id, entry_point, sender, nonce);
create index inclusions_reverted on inclusions (block_time) where not success;

create table transaction_receipts (
  chain_id bigint not null,
  hash text not null,
  block_number bigint not null,
  block_hash text not null,
  receipt jsonb not null,
  primary key (chain_id, hash)
);
create index on transaction_receipts (chain_id, block_number);

-- What happened to an operation before its present state. A transition overwrites the row, so a
-- trigger keeps what the row forgets. The usual way (pooled, bundled, included) writes nothing.
create table operation_history (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  hash text not null,
  at timestamptz not null,
  kind text not null
    check (kind in ('returned', 'suspected', 'reorged', 'replaced', 'readmitted', 'dropped')),
  bundle_id bigint, -- the bundle that it left
  code text, -- DropCode
  reason text
);
create index operation_history_hash on operation_history (chain_id, hash, id);

create function remember_operation() returns trigger language plpgsql as $$
  begin
    if old.state in ('dropped', 'replaced') then
      insert into operation_history (chain_id, hash, at, kind, bundle_id, code, reason)
      values (old.chain_id, old.hash, old.updated_at, old.state, old.bundle_id, old.reason_code, old.reason);
      if new.state = 'pooled' then
        insert into operation_history (chain_id, hash, at, kind)
        values (old.chain_id, old.hash, now(), 'readmitted');
      end if;
    elsif old.state = 'included' then
      insert into operation_history (chain_id, hash, at, kind, bundle_id, reason)
      values (old.chain_id, old.hash, now(), 'reorged', old.bundle_id,
        (select 'block ' || block_number || ' with transaction ' || transaction_hash || ' left the chain'
          from inclusions where chain_id = old.chain_id and user_op_hash = old.hash));
    else
      insert into operation_history (chain_id, hash, at, kind, bundle_id)
      values (old.chain_id, old.hash, now(),
        case when new.attempts > old.attempts then 'suspected' else 'returned' end, old.bundle_id);
    end if;
    return null;
  end $$;
create trigger operation_remembered after update on operations for each row
  when (old.state <> new.state and (old.state in ('dropped', 'replaced', 'included')
    or (old.state = 'bundled' and old.bundle_id is not null
      and (new.state <> 'included' or new.bundle_id is distinct from old.bundle_id))))
  execute function remember_operation();

-- Requests about operations that were answered with an error. `entry_point`, `sender` and `nonce`
-- are null where the request named none that can be read.
create table refusals (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null,
  account_id uuid not null references accounts on delete cascade,
  app_id uuid not null references apps on delete cascade,
  key_id uuid not null,
  chain_id bigint not null,
  method text not null,
  entry_point text,
  sender text,
  nonce numeric(78, 0),
  code integer not null, -- the JSON-RPC code
  rule text,
  message text not null,
  data text, -- `error.data` of the answer, as JSON
  request text, -- the parameters as JSON, unless they are too long to be kept
  request_id text not null
);
create index refusals_account on refusals (account_id, at, id);
create index refusals_app on refusals (app_id, at, id);
create index refusals_at on refusals (at);
create index refusals_request on refusals (request_id);

-- What runs read, so that they can be repeated without a node (simulation/witness.ts).
create table witnesses (
  chain_id bigint not null,
  hash text not null, -- of a mined transaction, or of an operation that was refused
  app_id uuid references apps on delete cascade, -- the app whose operation was refused; null: a transaction
  digest text not null, -- keccak256 of the canonical bytes
  bytes bytea not null, -- those bytes, compressed
  at timestamptz not null default now(),
  primary key (chain_id, hash, digest)
);
create index witnesses_at on witnesses (at);
create index witnesses_app on witnesses (app_id, at) where app_id is not null;

-- The code that witnesses name, once for all of them.
create table codes (
  hash text primary key, -- keccak256
  bytes bytea not null,
  used_at timestamptz not null default now() -- at most a day before the newest witness that names it
);
create index codes_used on codes (used_at);

-- ---------------------------------------------------------------------------------------------
-- Views for accountants
-- ---------------------------------------------------------------------------------------------

-- Amounts that went, or are owed, from one account to another, in smallest units of `currency` (an ERC-20 token, or
-- the chain's coin). Deposits and withdrawals that others make are on the chain alone.
create view ledger_movements as
  -- What the EntryPoint took for an operation, and gave to the sender of its bundle.
  select i.chain_id, 'coin' as currency, 'charge' as kind, i.user_op_hash as reference,
    i.block_time as at, i.actual_gas_cost as amount,
    case when exists (select from tanks t where (t.chain_id, t.entry_point, t.address)
        = (i.chain_id, i.entry_point, i.paymaster)) then 'tank'
      when i.paymaster = '0x0000000000000000000000000000000000000000' then 'sender'
      else 'paymaster' end as from_account,
    case when i.paymaster = '0x0000000000000000000000000000000000000000' then i.sender
      else i.paymaster end as from_holder,
    case when b.id is null then 'others' else 'executor' end as to_account,
    coalesce(b.executor, '') as to_holder
  from inclusions i left join bundles b
    on (b.chain_id, b.transaction_hash) = (i.chain_id, i.transaction_hash) and b.kind = 'operations'
  union all
  -- What a mined transaction of ours cost.
  select chain_id, 'coin', 'gas', transaction_hash, updated_at, cost, 'executor', executor, 'chain', ''
  from bundles where cost is not null
  union all
  -- What a tank paid beyond its share of a bundle is owed to it, and then returned without what that costs. Refills.
  select s.chain_id, 'coin', 'rebate', s.transaction_hash, r.updated_at, s.amount,
    'operator', '', 'rebate', s.tank
  from surpluses s left join bundles r on r.id = s.bundle_id
  where r.state is distinct from 'included'
  union all
  select chain_id, 'coin', kind, transaction_hash, updated_at, value, 'executor', executor,
    case kind when 'return' then 'tank' else 'executor' end, recipient
  from bundles where recipient is not null and state = 'included'
  union all
  -- What the operator credited an app, and what was taken back.
  select f.chain_id, 'coin', 'credit', c.reference, c.created_at, c.amount,
    'outside', f.app_id::text, 'credit', f.app_id::text
  from credits c join funds f on f.id = c.fund_id
  union all
  -- What an operation took from the credit of its app.
  select r.chain_id, 'coin', 'spent', r.user_op_hash, r.updated_at, c.settled,
    'credit', f.app_id::text, 'operator', ''
  from reservations r cross join lateral (
      select distinct c.policy_id, c.settled from charges c join decisions d on d.id = c.decision_id
      where c.reservation_id = r.id and d.user_op_hash = r.user_op_hash and c.unit = 'wei'
    ) c join funds f on f.id = c.policy_id
  where r.state in ('included', 'settled')
  union all
  -- What signed sponsorships may still take.
  select chain_id, 'coin', 'reserved', id::text, updated_at, max_cost,
    'available', paymaster, 'reserved', paymaster
  from reservations where state = 'open'
  union all
  select chain_id, token, 'tokens', user_op_hash, booked_at, charged,
    'sender', sender, 'tokenTank', tank
  from token_payments;

-- The same in double entry: each movement as two entries, whose sum is zero.
create view ledger_entries as
  select m.chain_id, m.currency, m.kind, m.reference, m.at, e.account, e.holder, e.amount
  from ledger_movements m cross join lateral (values
    (m.from_account, m.from_holder, -m.amount), (m.to_account, m.to_holder, m.amount)
  ) as e (account, holder, amount);
