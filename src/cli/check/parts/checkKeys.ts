import { ConfigError } from '../../../base/errors/configError.js'
import { SignerUnavailableError } from '../../../base/errors/processErrors.js'
import type {
  ChainDefinition,
  SendingDefinition,
  Treasury,
} from '../../../chain/definition/chainDefinition.js'
import type { ExecutorSigner } from '../../../chain/signing/executorTransaction.js'
import { type KeySource, openSigner } from '../../../chain/signing/openSigner.js'
import type { Config } from '../../../config/options.js'
import { resolveChains } from '../../../config/resolveChains.js'
import { type Finding, reporterOf } from '../finding.js'

type KeysCheck = {
  readonly findings: readonly Finding[]
  readonly executors: readonly ExecutorSigner[]
  readonly treasury: ExecutorSigner | undefined
  /** The terms of the treasury, where the configuration has one. */
  readonly refill: Treasury | undefined
  /** The way in which a process with these keys sends bundles. */
  readonly sending: SendingDefinition
}

type Environment = Readonly<Record<string, string | undefined>>

/** Looks up and opens the keys of a chain: in the environment, in keystore files, in the key service. */
export async function checkKeys(
  chain: Config['chains'][number],
  environment: Environment,
  roles: Config['role'],
): Promise<KeysCheck> {
  const report = reporterOf('keys', chain.chainId)
  const nothing = {
    executors: [],
    treasury: undefined,
    refill: undefined,
    sending: { way: 'public' as const },
  }
  let definition: ChainDefinition | undefined
  try {
    ;[definition] = resolveChains([chain], environment, roles)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { ...nothing, findings: [report.fault(error.message.replace(/\.$/, ''), REMEDY)] }
  }
  const opened = await Promise.all((definition?.executorKeys ?? []).map(tryKey))
  const treasury = definition?.treasury && (await tryKey(definition.treasury.key))
  const troubles = [...opened, ...(treasury ? [treasury] : [])].flatMap((key) =>
    typeof key === 'string' ? [report.fault(key, REMEDY)] : [],
  )
  const executors = opened.flatMap((key) => (typeof key === 'string' ? [] : [key]))
  const addresses = executors.map(({ address }) => address)
  const twice = addresses.find((address, at) => addresses.indexOf(address) !== at)
  const doubled = twice
    ? [report.fault(`two executorKeys are the key of ${twice}`, 'give each executor its own key')]
    : []
  const sound =
    troubles.length === 0 && doubled.length === 0 && executors.length > 0
      ? [report.ok(`executors ${addresses.join(', ')}`)]
      : []
  return {
    findings: [...troubles, ...doubled, ...sound],
    executors,
    treasury: typeof treasury === 'string' ? undefined : treasury,
    refill: definition?.treasury,
    sending: definition?.sending ?? { way: 'public' },
  }
}

const REMEDY = 'see docs/operate/configuration.md, "Keys"'

/** The signer, or the reason for which there is none. */
async function tryKey(source: KeySource): Promise<ExecutorSigner | string> {
  try {
    return await openSigner(source)
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof SignerUnavailableError)) throw error
    return error.message.replace(/\.$/, '')
  }
}
