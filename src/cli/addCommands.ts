import type { Command } from 'commander'

type Entry = {
  readonly description: string
  /** Loads the function that gives the command its own commands, flags and actions. */
  readonly load: () => Promise<(command: Command) => void>
}

const entries: Readonly<Record<string, Entry>> = {
  dev: {
    description: 'run everything: chain, database, contracts, an app with keys, the service',
    load: async () => (await import('./commands/devCommand.js')).defineDevCommand,
  },
  serve: {
    description: 'run the service for the chains of the configuration',
    load: async () => (await import('./commands/serveCommand.js')).defineServeCommand,
  },
  check: {
    description: 'check nodes, keys, balances and database of this configuration; changes nothing',
    load: async () => (await import('./commands/checkCommand.js')).defineCheckCommand,
  },
  rehearse: {
    description: "simulate the operations of the last days under a fork's rules",
    load: async () => (await import('./commands/rehearseCommand.js')).defineRehearseCommand,
  },
  account: {
    description: 'accounts that own apps',
    load: async () => (await import('./commands/accountCommands.js')).defineAccountCommand,
  },
  app: {
    description: 'an app (dApp) of an account',
    load: async () => (await import('./commands/accountCommands.js')).defineAppCommand,
  },
  key: {
    description: 'API keys of an app',
    load: async () => (await import('./commands/accountCommands.js')).defineKeyCommand,
  },
  user: {
    description: 'users of the administration',
    load: async () => (await import('./commands/people/userCommands.js')).defineUserCommand,
  },
  'auth-token': {
    description: 'tokens for scripts of an account',
    load: async () =>
      (await import('./commands/people/authTokenCommands.js')).defineAuthTokenCommand,
  },
  tank: {
    description: "an app's gas tank: its deposit for sponsorship",
    load: async () => (await import('./commands/tankCommands.js')).defineTankCommand,
  },
  contracts: {
    description: 'contracts of Purser on a chain: tank factory and tank code',
    load: async () => (await import('./commands/contractsCommands.js')).defineContractsCommand,
  },
  token: {
    description: 'ERC-20 tokens collected for gas',
    load: async () => (await import('./commands/tokenCommands.js')).defineTokenCommand,
  },
  ledger: {
    description: 'the ledger against the chains',
    load: async () => (await import('./commands/ledgerCommands.js')).defineLedgerCommand,
  },
  operation: {
    description: 'accepted operations and their history',
    load: async () => (await import('./commands/recordCommands.js')).defineOperationCommand,
  },
  statement: {
    description: 'signed statements of what apps spent',
    load: async () => (await import('./commands/recordCommands.js')).defineStatementCommand,
  },
  share: {
    description: 'links that show one operation to readers without an account',
    load: async () => (await import('./commands/recordCommands.js')).defineShareCommand,
  },
  webhook: {
    description: 'webhooks that approve sponsorships',
    load: async () => (await import('./commands/webhookCommands.js')).defineWebhookCommand,
  },
  decision: {
    description: 'sponsorship decisions and their reasons',
    load: async () => (await import('./commands/recordCommands.js')).defineDecisionCommand,
  },
  refusal: {
    description: 'rejected requests and the reason',
    load: async () => (await import('./commands/recordCommands.js')).defineRefusalCommand,
  },
  explain: {
    description: 'explain an error code: AA25, STO-021, BUDGET_EXCEEDED, -32508',
    load: async () => (await import('./commands/explainCommand.js')).defineExplainCommand,
  },
  policy: {
    description: 'sponsorship policies: rules and budgets',
    load: async () => (await import('./commands/policyCommands.js')).definePolicyCommand,
  },
  subscription: {
    description: "where an app's events are delivered",
    load: async () => (await import('./commands/webhookCommands.js')).defineSubscriptionCommand,
  },
  audit: {
    description: 'the audit log',
    load: async () => (await import('./commands/recordCommands.js')).defineAuditCommand,
  },
  lease: {
    description: 'which process bundles on which chain',
    load: async () => (await import('./commands/leaseCommands.js')).defineLeaseCommand,
  },
  keys: {
    description: 'the master key that encrypts stored secrets',
    load: async () => (await import('./commands/keysCommands.js')).defineKeysCommand,
  },
  backup: {
    description: 'backups of the database: create, verify, restore',
    load: async () => (await import('./commands/backupCommands.js')).defineBackupCommand,
  },
  storage: {
    description: 'the disk space that records use in the database',
    load: async () => (await import('./commands/storageCommand.js')).defineStorageCommand,
  },
  migrate: {
    description: 'bring the database schema up to date (every start does it too)',
    load: async () => (await import('./commands/migrateCommand.js')).defineMigrateCommand,
  },
}

/**
 * Adds every command with its name and description. Only the command that the user called also gets
 * its flags and actions, because loading the code of all commands takes over a second.
 * @param words - the command line, for example `help tank`
 */
export async function addCommands(program: Command, words: readonly string[]): Promise<void> {
  const calledName = words.find((word) => Object.hasOwn(entries, word))
  for (const [name, { description, load }] of Object.entries(entries)) {
    const command = program.command(name).description(description)
    if (name === calledName) (await load())(command)
  }
}
