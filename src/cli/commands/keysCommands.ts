import type { Command } from 'commander'
import type { Config, OptionName } from '../../config/options.js'
import { ConfigError } from '../../errors/configError.js'
import { audited } from '../../store/tenants/audit.js'
import {
  adoptMasterKey,
  isRecordedKey,
  type KeyTrial,
  missingKey,
  tryMasterKey,
} from '../../tenancy/masterKey.js'
import { masterKeyFile, newMasterKey, readMasterKey } from '../../tenancy/secrets.js'
import { commandActor } from '../commandActor.js'
import { createLogger } from '../createLogger.js'
import { upgradeSchema, withDatabase } from '../openStore.js'
import { configOf, withOptions } from '../optionFlags.js'
import { printTable } from '../printTable.js'

const storeOptions: readonly OptionName[] = ['data', 'databaseUrl', 'masterKey']

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

/** `purser keys new|check|adopt` */
export function defineKeysCommand(keys: Command): void {
  keys
    .command('new')
    .description('print a new master key, for PURSER_MASTER_KEY or a file; nothing is stored')
    .action(() => console.log(newMasterKey()))

  withOptions(
    keys
      .command('check')
      .description(
        'whether the master key is the one of the database, and what it does not decrypt',
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
          'The master key does not decrypt everything: restore the right one, or see docs/keys.md for what to do when it is lost.',
        )
    })
  })

  withOptions(
    keys
      .command('adopt')
      .description(
        'make this master key that of the database, when the earlier one is lost for good',
      ),
    storeOptions,
  ).action(async (flags: Record<string, unknown>) => {
    const config = configOf(flags)
    await withDatabase(config, createLogger('error'), upgradeSchema, async ({ database }) => {
      const key = keyOf(config)
      showTrial(await audited(database, commandActor(), (change) => adoptMasterKey(change, key)))
    })
  })
}
