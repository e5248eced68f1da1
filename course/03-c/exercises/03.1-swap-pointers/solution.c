// Swaps two prices, in cents.
//
// a and b are the function's own copies of two addresses; swapping them changes nothing outside. The prices are what
// the addresses point to: *a and *b.

void swap(int *a, int *b)
{
    int old = *a;
    *a = *b;
    *b = old;
}
