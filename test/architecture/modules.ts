/**
 * The modules of `src/`, lowest layer first. A module imports only modules that stand before it, and of those
 * only the files at the top and in the folders named here: all other folders are private to their module. The
 * table in docs/understand/architecture.md is made from this list.
 */
export const modules = [
  [
    'base',
    'errors, the guarded HTTP client, metrics by name, caches, batches, bigints, time',
    ['errors', 'metrics', 'outbound'],
  ],
  ['evm', 'in-process EVM, pure; its entry is `index.ts`', []],
  [
    'erc4337',
    'operations, EntryPoint versions behind `EntryPoint`, ABI encoding, the rules of ERC-7562; pure',
    ['encoding', 'rules'],
  ],
  [
    'db',
    'connections, transactions, schema, leases, notifications, the embedded PostgreSQL server',
    ['embedded'],
  ],
  [
    'chain',
    'nodes, heads, fees, state for our EVM, signers, our contracts, what a chain is as data',
    ['contracts', 'contracts/generated', 'definition', 'signing'],
  ],
  [
    'simulation',
    'from operation to verdict: engines, worker threads, comparison with the node',
    [],
  ],
  ['gas', 'limits by search, preVerificationGas, data fees, the cost of a bundle', []],
  [
    'tenants',
    'accounts, apps, keys, quotas, audit, secrets at rest; people and sessions',
    ['people'],
  ],
  ['webhooks', 'registered webhooks, the approval call, subscriptions, delivery of events', []],
  [
    'paymaster',
    'gas tanks, sponsorship, policies and budgets, the ledger, ERC-20 gas, token prices',
    ['ledger', 'policy', 'prices'],
  ],
  ['mempool', 'admission, replacement, limits, reputation, the pool in the database', ['pool']],
  ['bundler', 'assemble, sign, send, follow, replace, settle; views of operations', ['outbox']],
  [
    'records',
    'history, lists, rejected requests, explanations, retention',
    ['explain', 'replay', 'statements'],
  ],
  ['config', 'every option once: flag, environment variable, file key, help', []],
  ['telemetry', 'metrics and traces', ['traces']],
  [
    'api',
    'HTTP: JSON-RPC methods and dialects, webhook routes, administration',
    ['admin', 'admin/routes', 'contracts'],
  ],
  ['service', 'composition: configuration in, running service out', []],
  ['cli', 'commands, the checks of an installation, the development chain', ['devnet']],
  ['.', '`cli.ts` and `demo.ts`, the programs; `prool.ts`, which other projects import', []],
] as const satisfies readonly (readonly [
  name: string,
  holds: string,
  publicFolders: readonly string[],
])[]

export type ModuleName = (typeof modules)[number][0]
