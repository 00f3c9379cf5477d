/**
 * The gas for which a chain takes money of a transaction: what it `used`; at least half of its limit (`halfLimit`,
 * Avalanche since Helicon); its whole `limit` (Monad). The latter two give no gas back for cleared storage.
 */
export const chargedGasKinds = ['used', 'halfLimit', 'limit'] as const

export type ChargedGas = (typeof chargedGasKinds)[number]
