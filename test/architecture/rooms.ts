/**
 * The rooms of `src/`, lowest floor first. A room imports only rooms that stand before it, and of
 * those only the files at the top: a room's subfolders are private to it, unless they are rooms of
 * this list themselves. The table in docs/architecture.md is made from this list.
 */
export const rooms = [
  ['errors', 'the catalogue: one class per failure (JSON-RPC code, HTTP status, rule, data)'],
  [
    'base',
    'helpers that know neither chain nor HTTP: caches, groups, bigints, Unix time, fault points, stopping in order',
  ],
  ['encoding', 'ABI words, keccak, typed data, storage slots'],
  ['evm', 'in-process EVM, pure; its door is `index.ts`'],
  [
    'entrypoint',
    'the operation; `versions/` has one file per contract version behind `EntryPoint`',
  ],
  ['contracts/generated', 'our Solidity, compiled during the build'],
  ['contracts', 'the addresses of our contracts'],
  ['signing', 'keys that sign transactions: here, in a keystore file, in a key service'],
  ['chain/definition', 'a chain and its tokens as data: `ChainDefinition`'],
  ['chain', 'node client, head follower, fees, state for our EVM'],
  ['store', 'mechanics of the database: connections, schema, migrations, leases, notifications'],
  ['store/postgres', 'the embedded PostgreSQL server'],
  ['store/tenants', 'rows of accounts, apps, keys, policies, webhooks, audit'],
  ['store/people', 'rows of users, members, sessions, invitations, attempts to sign in'],
  ['store/pool', 'rows of operations, inclusions, reputations'],
  ['store/ledger', 'rows of tanks, funds, budgets, reservations, decisions, token payments'],
  ['store/outbox', 'bundles and other transactions of ours; undoing a reorg'],
  ['store/records', 'rows of refused requests; operations with all that happened to them'],
  ['explain', 'code to meaning and remedy, pure'],
  ['validation/erc7562', 'the rules of ERC-7562, pure; its door is `index.ts`'],
  ['validation', 'from operation to verdict: engines that simulate, checks between them'],
  ['outbound', 'the guarded HTTP client: the one way out to addresses that customers chose'],
  ['tenancy', 'accounts, apps, keys, authentication, encryption of secrets at rest'],
  ['access', 'people: passwords, signing in, identity providers, members of accounts, invitations'],
  ['devnet', 'embedded anvil and its contracts, for development and tests'],
  ['gas', 'limits by search, preVerificationGas, the cost of a bundle'],
  ['webhook', 'registered webhooks, the approval call, delivery of events'],
  ['mempool', 'admission, replacement, limits, reputation'],
  ['policy', 'policies, their rules and budgets; the reservation'],
  ['records', 'refusals recorded behind the answers; the end of old records'],
  ['prices', 'the price of tokens: feeds, HTTP, fixed'],
  ['bundling', 'assemble, sign, send, follow, replace, settle; views of operations'],
  ['paymaster', 'tanks, sponsorship, gas paid in tokens'],
  ['config', 'every option once: flag, environment variable, file key, help'],
  ['metrics', 'the counters of the process'],
  [
    'traces',
    'the way of an operation for OpenTelemetry; nothing of it is loaded where no endpoint is configured',
  ],
  [
    'admin',
    'the contracts of the administration API: schemas that browsers have too, and the client',
  ],
  ['api', 'HTTP: JSON-RPC methods and dialects, webhook management, administration'],
  ['service', 'composition: configuration in, running service out; one chain of it'],
  ['check', 'whether an installation can serve: one finding for each thing that was looked at'],
  ['cli', 'commands'],
  ['.', '`cli.ts` and `demo.ts`, the programs; `prool.ts`, which other projects import'],
] as const satisfies readonly (readonly [name: string, holds: string])[]

export type RoomName = (typeof rooms)[number][0]
