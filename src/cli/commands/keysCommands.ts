import type { Command } from 'commander'
import { ConfigError } from '../../base/errors/configError.js'
import type { Config, OptionName } from '../../config/options.js'
import { audited } from '../../tenants/audit.js'
import {
  adoptMasterKey,
  isRecordedKey,
  type KeyTrial,
  missingKey,
  type Rewrapped,
  rewrapSecrets,
  tryMasterKey,
} from '../../tenants/masterKey.js'
import {
  masterKeyFile,
  newMasterKey,
  parseMasterKey,
  readMasterKey,
} from '../../tenants/secrets.js'
import { commandActor } from '../commandActor.js'
import { createLogger } from '../createLogger.js'
import { upgradeSchema, withDatabase } from '../openStore.js'
import { configOf, withOptions } from '../optionFlags.js'
import { secretOfFlag } from '../parseFlags.js'
import { printTable } from '../printTable.js'

const storeOptions: readonly OptionName[] = [
  'data',
  'databaseUrl',
  'masterKey',
  'masterKeyPrevious',
]

function keyOf({ masterKey, data }: Config): Buffer {
  const key = readMasterKey(masterKey, data)
  if (key === undefined) throw missingKey({ configured: masterKey, dataFolder: data })
  return key
}

function placeOf({ masterKey, data }: Config): string {
  return masterKey === undefined ? masterKeyFile(data) : 'PURSER_MASTER_KEY'
}

/** The remedy for an object whose secret is lost. */
const remedies = {
  tank: 'its owner withdraws the deposit by purser tank withdraw; then purser tank replace',
  webhook: 'purser webhook rotate makes a new secret',
  subscription: 'delete it and create it anew',
} as const

function showTrial({ opened, lost }: KeyTrial): void {
  console.log(`secrets that the key decrypts  ${opened}`)
  console.log(`secrets that it does not       ${lost.length}`)
  if (lost.length === 0) return
  printTable(
    lost.map(({ kind, id, appId, detail }) => ({
      lost: kind,
      id: detail.address ?? id,
      app: appId,
      chain: detail.chainId,
      entryPoint: detail.entryPoint,
      kind: detail.tankKind,
      owner: detail.owner,
      remedy: remedies[kind],
    })),
  )
}

function newKeyOf(flag: unknown): Buffer {
  const key = parseMasterKey(secretOfFlag('--new-key', String(flag)))
  if (key === undefined) throw new ConfigError('--new-key must be 32 bytes in hex or base64.')
  return key
}

/** The key to rewrap from, and the one to rewrap to. Rolling: all processes have both, so none must stop. */
function keysOf(config: Config, newKey: unknown) {
  const { masterKeyPrevious } = config
  if (newKey !== undefined)
    return { oldKey: keyOf(config), newKey: newKeyOf(newKey), isRolling: false }
  const oldKey = masterKeyPrevious === undefined ? undefined : parseMasterKey(masterKeyPrevious)
  if (oldKey === undefined)
    throw new ConfigError(
      'Configure the old key as PURSER_MASTER_KEY_PREVIOUS and the new one as PURSER_MASTER_KEY, or name the new one by --new-key.',
    )
  return { oldKey, newKey: keyOf(config), isRolling: true }
}

/** @param place - of the old key that must be replaced now; undefined = all processes have the new one */
function showRewrapped({ rewrapped, already, lost }: Rewrapped, place: string | undefined): void {
  console.log(`secrets with the new key now    ${rewrapped}`)
  console.log(`secrets that had it already     ${already}`)
  console.log(`secrets that neither decrypts   ${lost.length}`)
  if (place === undefined)
    console.log(
      'Everything has the new key. Remove PURSER_MASTER_KEY_PREVIOUS from the configuration and restart the processes one by one. Keep the old key as long as you keep backups from before today.',
    )
  else
    console.log(
      `Put the new key in place of the old one (${place}), restart every process of Purser with it, and run this command once more: what a process stored under the old key meanwhile is rewrapped then. Keep the old key as long as you keep backups from before today.`,
    )
}

/** `purser keys new|check|rewrap|adopt` */
export function defineKeysCommand(keys: Command): void {
  keys
    .command('new')
    .description('print a new master key, for PURSER_MASTER_KEY or a file; nothing is stored')
    .action(() => console.log(newMasterKey()))

  withOptions(
    keys
      .command('check')
      .description(
        'check that the master key belongs to the database, and list what it cannot decrypt',
      ),
    storeOptions,
  ).action(async (flags: Record<string, unknown>) => {
    const config = configOf(flags)
    await withDatabase(config, createLogger('error'), upgradeSchema, async ({ database }) => {
      const key = keyOf(config)
      const isOwn = await isRecordedKey(database, key)
      const trial = await tryMasterKey(database, key)
      console.log(`key                            ${placeOf(config)}`)
      console.log(
        `the key of this database       ${isOwn === undefined ? 'none recorded yet' : isOwn}`,
      )
      showTrial(trial)
      if (isOwn === false || trial.lost.length > 0)
        throw new ConfigError(
          'The master key does not decrypt everything: restore the right one, or see docs/operate/keys.md for what to do when it is lost.',
        )
    })
  })

  withOptions(
    keys
      .command('rewrap')
      .description('encrypt all stored secrets with another master key, atomically')
      .option(
        '--new-key <key>',
        'the key from now on, env:NAME or file:PATH; absent = the master key, where the previous one is configured too',
      ),
    storeOptions,
  ).action(async (flags: Record<string, unknown>) => {
    const config = configOf(flags)
    const { oldKey, newKey, isRolling } = keysOf(config, flags.newKey)
    await withDatabase(config, createLogger('error'), upgradeSchema, async ({ database }) => {
      const counts = await audited(database, commandActor(), (change) =>
        rewrapSecrets(change, oldKey, newKey),
      )
      showRewrapped(counts, isRolling ? undefined : placeOf(config))
    })
  })

  withOptions(
    keys
      .command('adopt')
      .description('record this master key for the database when the earlier one is lost for good'),
    storeOptions,
  ).action(async (flags: Record<string, unknown>) => {
    const config = configOf(flags)
    await withDatabase(config, createLogger('error'), upgradeSchema, async ({ database }) => {
      const key = keyOf(config)
      showTrial(await audited(database, commandActor(), (change) => adoptMasterKey(change, key)))
    })
  })
}
