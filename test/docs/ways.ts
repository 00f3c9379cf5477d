/**
 * What the walk does with a block of a page, by a text that the block contains. A block without an entry is run.
 *
 * - `terminal NAME`: keeps running in a terminal of its own, in place of the one that had the name before
 * - `file NAME`: is saved under that name
 * - `needs PROGRAM`: is run where that program is installed, otherwise left out
 * - `schema NAME, REASON`: is not run, but must be valid for that schema
 * - `no, REASON`: is not run; its commands and flags must exist
 */
export const ways: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    'npm ci && npm start': 'no, .ci/run and the tests do this in a clone',
    toSimple7702SmartAccount: 'file first.mjs',
  },
  'docs/start/quickstart.md': {
    'npx --yes': 'no, test/lifecycle/packed.test.ts runs this line',
    'purser dev': 'terminal development',
    PaymasterMode: 'file second.mjs',
    "from 'prool'": "no, a part of a test's setup; test/clients/prool.test.ts runs it",
    'purser serve --config purser.json': 'terminal serving',
  },
  'docs/build/api.md': {
    createAdminClient: 'file admin.mjs',
    'new EventSource': 'no, it is for browsers; test/interface/events.test.ts reads streams',
  },
  'docs/build/sponsorship.md': {
    '"budgets": [': 'schema terms, its addresses are shortened',
    "purser app list | awk '/development/": 'no, a test in test/operator runs it',
  },
  'docs/build/tokens.md': {
    'purser token withdraw':
      'no, the app must have taken tokens; test/lifecycle/tokens.test.ts calls all of them',
  },
  'docs/operate/configuration.md': {
    '--fork-url': 'no, the node is an example; test/lifecycle/fork.test.ts forks another Anvil',
    '"chains": [': 'schema chains, the node is an example',
    '"symbol": "USDC"': 'schema token, the feeds are shortened',
    '"usdPrice"': 'no, the feed is shortened; src/chain/definition/tokenDefinition.test.ts has one',
    '"sending"': 'no, the relay is an example',
  },
  'docs/operate/console.md': { '"oidc"': 'no, a part of a configuration' },
  'docs/operate/database.md': {
    psql: 'no, needs a server; done by hand with PostgreSQL 15 of Debian 12',
    'openssl pkeyutl': 'no, needs a statement; done by hand with OpenSSL 3',
    ledger_entries: 'no, it is SQL; test/records/verifyLedger.test.ts reads the view',
    'purser backup verify':
      'no, needs a running service; test/lifecycle/backupCommands.test.ts runs it',
  },
  'docs/operate/deploying.md': {
    '--omit=optional':
      'no, the walk needs the optional packages; test/lifecycle/packed.test.ts serves without them',
    encodeFunctionData: 'file withdrawal.mjs',
  },
  'docs/build/switching.md': {
    '@@': 'no, a difference; the tests of test/clients run the code after it',
    PURSER_SHARE: 'no, a part of an application',
  },
  'docs/operate/install.md': {
    '"chains": [': 'schema chains, its node and hosts are examples',
    '/etc/systemd/system/': 'no, needs systemd; test/deploy/systemd.test.ts checks the unit',
    '/opt/purser': 'no, needs a host of its own',
    psql: 'no, needs a server; done by hand with PostgreSQL 15 of Debian 12',
    '/etc/purser/secrets': 'no, needs a host of its own',
    '--operator --email': 'no, needs a host of its own; test/deploy/install.test.ts does it',
    'upstream purser {': 'no, needs two hosts; test/deploy/install.test.ts does it on one',
    docker: 'no, needs a container engine; npm run test:image builds and runs the image',
    kubectl: 'no, needs a cluster; test/deploy/chart.test.ts runs what the chart renders',
    'image: {': 'no, the registry and the node are examples',
  },
  'docs/operate/keys.md': {
    '"kms"': 'schema key, the key is an example',
    '"gcp"': 'schema key, the key is an example',
    '"azure"': 'schema key, the key is an example',
    '"turnkey"': 'schema key, the organization is an example',
    '"web3signer"': 'no, its public key is shortened',
    '"jsonRpc"': 'schema key, the signer is an example',
    'purser serve --config purser.json': 'terminal serving',
    '/etc/purser/secrets':
      'no, the key is wherever you keep it; test/operator/rewrap.test.ts does it under load',
    '--reserved': 'no, the signer must be lost; test/operator/masterKey.test.ts loses one',
  },
  'docs/operate/metrics.md': { 'scrape_configs:': 'no, Prometheus reads it' },
  'docs/operate/nodes.md': { 'go install': 'no, builds geth for ten minutes' },
  'docs/operate/operations.md': {
    'failed in block': 'no, an output, shortened; test/records/replay.test.ts looks at it',
    'purser contracts deploy': 'no, needs a public chain',
    'get /': 'no, needs an installation in trouble',
    'get "/': 'no, needs an installation in trouble',
    'export ADMIN=': 'no, needs an installation of your own',
    'purser lease release': 'no, needs a lease that was lost',
    'purser tank alert': 'no, needs the ids of an alert',
    'systemctl reload': 'no, needs systemd',
  },
  'docs/understand/validation.md': {
    '"role": "paymaster"': 'schema exception, its address is shortened',
  },
}
