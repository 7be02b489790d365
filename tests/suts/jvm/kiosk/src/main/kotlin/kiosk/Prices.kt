package kiosk

import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.filter
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.fold
import kotlinx.coroutines.yield

/** What is sold. */
sealed class Ware {
    data class Drink(val name: String, val amount: Int) : Ware()

    object Nothing : Ware()
}

/** Functions that wait for each other, with branches before and after the places at which they do. */
suspend fun answer(parts: List<String>): String? {
    val amount = parts.getOrNull(2)?.toIntOrNull()
    if (parts[0] != "prices" || amount == null) {
        return null
    }
    val ware = find(parts[1], amount)
    return when (ware) {
        is Ware.Drink -> "${ware.name}: ${price(ware)}"
        Ware.Nothing -> "nothing"
    }
}

private suspend fun find(name: String, amount: Int): Ware {
    yield()
    return when (name) {
        "coffee", "tea" -> Ware.Drink(name, amount)
        else -> if (name.startsWith("juice of ")) Ware.Drink(name, 2 * amount) else Ware.Nothing
    }
}

private suspend fun price(drink: Ware.Drink, rebate: Int = 5): Int = coroutineScope {
    val single = async {
        yield()
        if (drink.name == "tea") 2 else 3
    }
    val some = drink.amount * single.await()
    if (some > 4711) {
        yield()
        some - rebate
    } else {
        some + tips(drink.amount)
    }
}

/** Every seventh costs more. */
private suspend fun tips(amount: Int): Int =
    flow {
        for (number in 1..minOf(amount, 20)) {
            emit(number)
        }
    }
        .filter { it % 7 == 0 }
        .fold(0) { sum, number -> if (number > 7) sum + 2 else sum + 1 }
