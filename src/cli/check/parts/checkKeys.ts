import { ConfigError } from '../../../base/errors/configError.js'
import { SignerUnavailableError } from '../../../base/errors/processErrors.js'
import type {
  ChainDefinition,
  SendingDefinition,
  Treasury,
} from '../../../chain/definition/chainDefinition.js'
import type {
  ExecutorSigner,
  ExecutorTransaction,
} from '../../../chain/signing/executorTransaction.js'
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
  const prove = (source: KeySource) => proveKey(source, chain.chainId)
  const opened = await Promise.all((definition?.executorKeys ?? []).map(prove))
  const treasury = definition?.treasury && (await prove(definition.treasury.key))
  const proven = [...opened, ...(treasury ? [treasury] : [])]
  const troubles = proven.flatMap((key) => key.troubles.map((text) => report.fault(text, REMEDY)))
  const limits = opened.flatMap(({ signer }) =>
    signer === undefined || signer.signsAuthorizations
      ? []
      : [
          report.warning(
            `executor ${signer.address} sends no operation with EIP-7702`,
            SEVENTY_SEVEN,
          ),
        ],
  )
  const executors = opened.flatMap(({ signer }) => signer ?? [])
  const addresses = executors.map(({ address }) => address)
  const twice = addresses.find((address, at) => addresses.indexOf(address) !== at)
  const doubled = twice
    ? [report.fault(`two executorKeys are the key of ${twice}`, 'give each executor its own key')]
    : []
  const sound =
    troubles.length === 0 && doubled.length === 0 && executors.length > 0
      ? [report.ok(`executors ${addresses.join(', ')} sign`)]
      : []
  return {
    findings: [...troubles, ...doubled, ...limits, ...sound],
    executors,
    treasury: treasury?.signer,
    refill: definition?.treasury,
    sending: definition?.sending ?? { way: 'public' },
  }
}

const REMEDY = 'see docs/operate/configuration.md, "Keys"'

const SEVENTY_SEVEN = 'use another kind of key, or "eip7702": true where its signer knows them'

/** No block takes it: it pays for no gas. */
const worthless: ExecutorTransaction = {
  chainId: 0,
  nonce: 0,
  to: `0x${'00'.repeat(20)}`,
  data: '0x',
  gas: 0n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
}

/** A tuple as any, which applies nowhere. */
const authorizationList = [
  { chainId: 1, address: worthless.to, nonce: 0, r: '0x1', s: '0x1', yParity: 0 },
] as const

/** Opens a key and has a worthless transaction signed, by each of its services. No signer = none could be opened. */
async function proveKey(source: KeySource, chainId: number) {
  const ways: readonly KeySource[] =
    typeof source === 'object' && 'services' in source
      ? source.services.map((service) => ({ services: [service] }))
      : [source]
  const troubles: string[] = []
  for (const way of ways)
    try {
      const signer = await openSigner(way)
      await signer.signTransaction({ ...worthless, chainId })
      const isDeclared = typeof way === 'object' && 'services' in way && signer.signsAuthorizations
      if (isDeclared) await signer.signTransaction({ ...worthless, chainId, authorizationList })
    } catch (error) {
      troubles.push(sentenceOf(error))
    }
  try {
    return { signer: await openSigner(source), troubles }
  } catch (error) {
    return { signer: undefined, troubles: troubles.length > 0 ? troubles : [sentenceOf(error)] }
  }
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof ConfigError || error instanceof SignerUnavailableError)) throw error
  return error.message.replace(/\.$/, '')
}
