import type { Command } from 'commander'
import type { Config, OptionName } from '../config/options.js'
import { createLogger } from './createLogger.js'
import { type CommandStore, withStore } from './openStore.js'
import { configOf, withOptions } from './optionFlags.js'

/** The flags of a command by name, as text. */
export type Flags = Readonly<Record<string, string | undefined>>

/** A call of a command on the opened store. */
export type Invocation = {
  readonly store: CommandStore
  readonly config: Config
  readonly flags: Flags
  /** The command's argument, where it has one. */
  readonly id: string
}

/** Gives a command the settings of the store, and others, and runs it on the opened store. */
export function onStore(
  command: Command,
  run: (invocation: Invocation) => Promise<void>,
  others: readonly OptionName[] = [],
): Command {
  const settings: readonly OptionName[] = [
    'data',
    'databaseUrl',
    'masterKey',
    'masterKeyPrevious',
    ...others,
  ]
  return withOptions(command, settings).action(async () => {
    const flags = command.opts<Flags>()
    const [id = ''] = command.args
    // A command's own flag may have the name of a setting that it does not take: `--role` of a user.
    const named = ['config', ...settings].map((name) => [name, flags[name]])
    const config = configOf(Object.fromEntries(named))
    await withStore(config, createLogger('error'), (store) => run({ store, config, flags, id }))
  })
}
